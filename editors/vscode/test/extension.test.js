// The extension with a stand-in for VS Code, and the server with the protocol library that VS Code speaks through.
"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const test = require("node:test");

const ROOT = path.join(__dirname, "..");
const COMMAND = (process.env.NMLGEN_COMMAND || "nmlgen").split(" ");

const made = [];
const registered = {};
let command = COMMAND;

class Client {
  constructor(id, name, server, options) {
    Object.assign(this, { id, name, server, options, running: false });
    made.push(this);
  }
  async start() {
    this.running = true;
  }
  async stop() {
    this.running = false;
  }
}

const vscode = {
  workspace: {
    getConfiguration: () => ({ get: () => command }),
    createFileSystemWatcher: (pattern) => ({ pattern }),
    onDidChangeConfiguration: (listener) => ((registered.changed = listener), {}),
  },
  window: { showErrorMessage: (message) => assert.fail(message) },
  commands: { registerCommand: (name, run) => ((registered[name] = run), {}) },
};

const load = Module._load;
Module._load = function (name, ...rest) {
  if (name === "vscode") return vscode;
  return name === "vscode-languageclient/node" ? { LanguageClient: Client } : load.call(this, name, ...rest);
};
const extension = require("../extension.js");
Module._load = load;

test("the manifest names files that are there, and every language of the selector", () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  for (const file of [manifest.main, manifest.contributes.grammars[0].path, manifest.contributes.languages[0].configuration]) {
    assert.ok(fs.existsSync(path.join(ROOT, file)), file);
  }
  const grammar = JSON.parse(fs.readFileSync(path.join(ROOT, manifest.contributes.grammars[0].path), "utf8"));
  for (const pattern of grammar.patterns) {
    for (const key of ["match", "begin", "end"]) {
      if (pattern[key] !== undefined) new RegExp(pattern[key]);
    }
  }
});

test("the server starts, starts again, and stops", async () => {
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.deepEqual(made[0].server, { command: COMMAND[0], args: [...COMMAND.slice(1), "lsp"] });
  assert.ok(made[0].running);
  await registered["nmlgen.restart"]();
  assert.deepEqual([made[0].running, made[1].running], [false, true]);
  command = ["other", "-m", "nmlgen"];
  await registered.changed({ affectsConfiguration: (name) => name === "nmlgen.command" });
  assert.deepEqual(made[2].server, { command: "other", args: ["-m", "nmlgen", "lsp"] });
  await extension.deactivate();
  assert.ok(!made[2].running);
  assert.equal(context.subscriptions.length, 2);
});

test("the server speaks with VS Code's own protocol library", async () => {
  const { createProtocolConnection } = require("vscode-languageserver-protocol/node");
  const { StreamMessageReader, StreamMessageWriter } = require("vscode-languageserver-protocol/node");
  const server = spawn(COMMAND[0], [...COMMAND.slice(1), "lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  connection.listen();
  const told = new Promise((resolve) => connection.onNotification("textDocument/publishDiagnostics", resolve));
  const { capabilities } = await connection.sendRequest("initialize", { processId: null, rootUri: null, capabilities: {} });
  assert.ok(capabilities.hoverProvider && capabilities.renameProvider && capabilities.completionProvider);
  await connection.sendNotification("initialized", {});
  const text = "&parallel_nml\n num_io_proc = 2\n/\n";
  const textDocument = { uri: "untitled:NAMELIST_atm", languageId: "namelist", version: 1, text };
  await connection.sendNotification("textDocument/didOpen", { textDocument });
  const { diagnostics } = await told;
  assert.ok(diagnostics.some((found) => found.code === "NML002" && found.range.start.line === 1));
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  assert.equal(await ended, 0);
  connection.dispose();
});
