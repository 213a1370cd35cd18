// The schema of specs in the YAML language server, which is what editors without nmlgen's own server use.
"use strict";

const assert = require("node:assert");
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { pathToFileURL } = require("node:url");
const {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} = require("vscode-languageserver-protocol/node");

const [PROGRAM, ...FIRST] = (process.env.NMLGEN_COMMAND || "nmlgen").split(" ");
const SERVER = path.join(__dirname, "..", "node_modules", ".bin", "yaml-language-server");

const RIGHT = [
  "extends: icon/jabw\nsite: levante\nparallel: {num_io_procs: auto, nproma: null}\n",
  "output:\n  atm:\n    ml_varlist: [u, v]\n    filetype: 4\nrestart:\n  restart_write_mode: joint procs multifile\n",
];
const WRONG = [
  ["parallel: {num_io_proc: 4}\n", "num_io_proc"],
  ["parallel:\n  nproma: sixteen\n", "integer"],
  ["namelists:\n  run_nml:\n    ltransport: 1\n", "boolean"],
  ["namelists:\n  paralel_nml:\n    nproma: 1\n", "paralel_nml"],
  ["restart:\n  restart_write_mode: joint\n", "joint procs multifile"],
  ["output:\n  atm:\n    ml_varlst: [u]\n", "ml_varlst"],
  ["site: levant\n", "levante"],
  ["extends: icon/jab\n", "icon/jabw"],
  ["job: {time: 40}\n", "a time limit with its unit"],
  ["namelists:\n  parallel_nml:\n    itype_comm: 1\n", "no longer has itype_comm"],
];

test("right specs pass, wrong ones do not, and what may stand there is offered", async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "nmlgen-"));
  const schema = path.join(directory, "schema.json");
  fs.writeFileSync(schema, execFileSync(PROGRAM, [...FIRST, "schema"], { maxBuffer: 1e8 }));
  const settings = { validate: true, completion: true, hover: true, schemaStore: { enable: false } };
  settings.schemas = { [pathToFileURL(schema).href]: "*.yaml" };
  const server = spawn(process.execPath, [SERVER, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  const waiting = {};
  connection.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) => waiting[uri]?.(diagnostics));
  connection.onRequest("workspace/configuration", ({ items }) =>
    items.map(({ section }) => (section === "yaml" ? settings : null)),
  );
  connection.listen();
  const capabilities = { workspace: { configuration: true } };
  await connection.sendRequest("initialize", { processId: null, rootUri: pathToFileURL(directory).href, capabilities });
  await connection.sendNotification("initialized", {});
  await connection.sendNotification("workspace/didChangeConfiguration", { settings: {} });
  let number = 0;
  async function opened(text) {
    const uri = pathToFileURL(path.join(directory, `${number++}.yaml`)).href;
    const told = new Promise((resolve) => (waiting[uri] = resolve));
    await connection.sendNotification("textDocument/didOpen", {
      textDocument: { uri, languageId: "yaml", version: 1, text },
    });
    return { uri, found: (await told).map(({ message }) => message) };
  }
  for (const text of RIGHT) {
    assert.deepEqual((await opened(text)).found, [], text);
  }
  for (const [text, word] of WRONG) {
    const { found } = await opened(text);
    assert.ok(found.some((message) => message.includes(word)), `${text}: ${found}`);
  }
  const { uri } = await opened("parallel:\n  num_io\nsite: \n");
  const offered = async (line, character) =>
    (await connection.sendRequest("textDocument/completion", { textDocument: { uri }, position: { line, character } })).items;
  assert.ok((await offered(1, 8)).some(({ label }) => label === "num_io_procs"));
  assert.ok((await offered(2, 6)).some(({ label }) => label === "levante"));
  const spec = await opened("parallel:\n  num_io_procs: 4\n");
  const position = { line: 1, character: 5 };
  const hover = await connection.sendRequest("textDocument/hover", { textDocument: { uri: spec.uri }, position });
  assert.match(JSON.stringify(hover.contents), /Ranks set apart for writing output/);
  server.kill();
  connection.dispose();
  fs.rmSync(directory, { recursive: true });
});
