// The client of the language server: it starts `nmlgen lsp` and hands it the documents that nmlgen knows.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SELECTOR = [
  { scheme: "file", language: "namelist" },
  { scheme: "untitled", language: "namelist" },
  { scheme: "file", language: "shellscript" },
  { scheme: "file", language: "yaml" },
  { scheme: "file", language: "mkexp" },
  { scheme: "file", pattern: "**/{nmlgen,pyproject}.toml" },
];

let client;

function start() {
  const [program, ...first] = vscode.workspace.getConfiguration("nmlgen").get("command", ["nmlgen"]);
  client = new LanguageClient(
    "nmlgen",
    "nmlgen",
    { command: program, args: [...first, "lsp"] },
    {
      documentSelector: SELECTOR,
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{nmlgen.toml,*.yaml,*.namelist,NAMELIST_*}") },
    },
  );
  return client.start().catch((error) => {
    const advice = "pip install 'nmlgen[lsp]', or name the program in the setting nmlgen.command";
    vscode.window.showErrorMessage(`nmlgen does not start: ${error.message}; ${advice}`);
  });
}

function stop() {
  const old = client;
  client = undefined;
  return old === undefined ? Promise.resolve() : old.stop();
}

function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("nmlgen.restart", () => stop().then(start)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("nmlgen.command")) {
        return stop().then(start);
      }
    }),
  );
  return start();
}

module.exports = { activate, deactivate: stop };
