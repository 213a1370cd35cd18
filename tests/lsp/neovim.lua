-- What somebody does at the editor: opens a namelist, types a mistake, sees it, mends it with one key, saves. Written for
-- Neovim 0.7.
local found = {}
local LONG = 3600 * 1000 -- vim.wait wants an end; what is waited for are events

local function finish()
  local out = io.open(vim.env.NMLGEN_FOUND, "w")
  out:write(vim.json.encode(found))
  out:close()
  vim.cmd("qall!")
end

local function codes()
  local names = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    names[#names + 1] = one.code or one.user_data.lsp.code
  end
  return names
end

local function wait_for(code, is_there)
  return vim.wait(LONG, function()
    return vim.tbl_contains(codes(), code) == is_there
  end, 20)
end

local function type_keys(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), "tx", false)
end

local ok, message = pcall(function()
  vim.cmd("luafile " .. vim.env.NMLGEN_SETTINGS)
  vim.cmd("edit " .. vim.env.NMLGEN_FILE)
  vim.cmd("2")
  type_keys("o" .. vim.env.NMLGEN_TYPED)
  wait_for("NML002", true)
  local client = vim.tbl_keys(vim.lsp.buf_get_clients(0))[1]
  for _, one in ipairs(vim.diagnostic.get(0)) do
    if (one.code or one.user_data.lsp.code) == "NML002" then
      found.diagnostic = one
      found.underlined = vim.api.nvim_buf_get_lines(0, one.lnum, one.lnum + 1, false)[1]:sub(one.col + 1, one.end_col)
    end
  end

  vim.api.nvim_win_set_cursor(0, { found.diagnostic.lnum + 1, found.diagnostic.col })
  local hover = vim.lsp.buf_request_sync(0, "textDocument/hover", vim.lsp.util.make_position_params(), LONG)
  found.hover = hover[client].result.contents.value

  local params = vim.lsp.util.make_range_params()
  params.context = { diagnostics = {} }
  local actions = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, LONG)[client].result
  found.action = actions[1].title
  found.marks = {}
  for namespace = 1, vim.api.nvim_create_namespace("") do -- some have no names
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
      found.marks[#found.marks + 1] = { mark[2], mark[3], mark[4].hl_group }
    end
  end
  type_keys("<F8>")
  wait_for("NML002", false)
  vim.cmd("write")

  vim.api.nvim_buf_set_lines(0, -1, -1, false, { "&parallel_nm" })
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(0), 12 })
  local items = vim.lsp.buf_request_sync(0, "textDocument/completion", vim.lsp.util.make_position_params(), LONG)
  found.completed = items[client].result.items[1].label
  local symbols = vim.lsp.buf_request_sync(0, "textDocument/documentSymbol", { textDocument = params.textDocument }, LONG)
  found.symbol = symbols[client].result[1].name
end)
if not ok then
  found.error = message
end
finish()
