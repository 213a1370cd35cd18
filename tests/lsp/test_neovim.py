"""The language server in Neovim, without a window."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tools import require

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "editors.md"
SCRIPT = Path(__file__).with_name("neovim.lua")
LINE = " division_file_name = 'ä𝒳' num_io_proc = 2"


def test_a_mistake_is_underlined_and_mended(tmp_path):
    require("nvim")
    file, found = tmp_path / "NAMELIST_atm", tmp_path / "found.json"
    file.write_text("&parallel_nml\n nproma = 16\n/\n", encoding="utf-8")
    (tmp_path / "nmlgen.toml").write_text('icon-release = "2024.10"\n')
    _, older = re.findall(r"```lua\n(.*?)```", DOCUMENTATION.read_text(encoding="utf-8"), re.DOTALL)
    settings = tmp_path / "settings.lua"
    settings.write_text(older, encoding="utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "nmlgen").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nmlgen "$@"\n')
    (programs / "nmlgen").chmod(0o755)
    variables = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "NMLGEN_SETTINGS": str(settings),
        "NMLGEN_FILE": str(file),
        "NMLGEN_FOUND": str(found),
        "NMLGEN_TYPED": LINE.lstrip(),  # the editor indents as the line before
        "XDG_STATE_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
    }
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {SCRIPT}"]
    subprocess.run(command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    seen = json.loads(found.read_text(encoding="utf-8"))
    assert seen.get("error") is None
    assert seen["underlined"] == "num_io_proc"
    assert [2, len(LINE.partition("num_io_proc")[0].encode()), "DiagnosticUnderlineError"] in seen["marks"]
    assert seen["action"] == "write num_io_procs"
    assert "num_io_procs" in seen["diagnostic"]["message"]
    assert "### NML002" in seen["hover"]
    assert seen["completed"] == "parallel_nml"
    assert seen["symbol"] == "&parallel_nml"
    assert file.read_text(encoding="utf-8").splitlines()[2] == LINE.replace("num_io_proc ", "num_io_procs ")
