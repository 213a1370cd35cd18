// The playground: an editor, and beside it what nmlgen says of the text in it. Nothing leaves the page.
import { basicSetup, EditorView } from "codemirror";
import { Compartment } from "@codemirror/state";
import { setDiagnostics, lintGutter } from "@codemirror/lint";
import { StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { fortran } from "@codemirror/legacy-modes/mode/fortran";
import { yaml } from "@codemirror/lang-yaml";
import { classHighlighter } from "@lezer/highlight";

const PAUSE = 150; // milliseconds without a keystroke, after which a text is judged
const LANGUAGES = {
  spec: yaml(),
  site: yaml(),
  script: StreamLanguage.define(shell),
  namelist: StreamLanguage.define(fortran),
};
const SEVERITIES = { error: "error", warning: "warning", advice: "info" };

const root = document.getElementById("judge");
const base = new URL("playground/", new URL(root.dataset.root, location.href));

function element(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

const examples = element("select", { ariaLabel: "example" });
const choices = {
  release: element("select", { ariaLabel: "release of ICON" }, new Option("release …", "")),
  site: element("select", { ariaLabel: "site" }, new Option("site …", "")),
};
const share = element("button", { type: "button", className: "share" }, "link");
const fixAll = element("button", { type: "button", className: "fix-all", hidden: true }, "fix all");
const state = element("output", { className: "state" }, "Python is loaded …");
const place = element("div", { className: "editor" });
const tabs = element("div", { className: "tabs", role: "tablist" });
const panel = element("div", { className: "panel", role: "tabpanel" });
root.replaceChildren(
  element("div", { className: "bar" }, examples, choices.release, choices.site, share, fixAll, state),
  element("div", { className: "halves" }, place, element("div", { className: "answers" }, tabs, panel)),
);

const language = new Compartment();
const view = new EditorView({
  parent: place,
  extensions: [
    basicSetup,
    language.of([]),
    lintGutter(),
    syntaxHighlighting(classHighlighter),
    EditorView.contentAttributes.of({ "aria-label": "run script, namelist or spec" }),
    EditorView.updateListener.of((update) => update.docChanged && changed()),
    EditorView.domEventHandlers({ drop: dropped }),
  ],
});

const worker = new Worker(new URL("worker.js", base), { type: "module" });
let judged = null; // the document that the answer is about
let isBusy = false;
let isStale = false; // another release or site was chosen since
let isReady = false;
let timer = null;
let answer = null;
const wanted = { release: "", site: "" };
let tab = "findings";

worker.onmessage = ({ data }) => {
  if (data.choices) {
    for (const [name, known] of Object.entries(data.choices)) {
      choices[name].append(...known.map((one) => new Option(one, one)));
      choices[name].value = wanted[name];
    }
    isReady = true;
    judge();
    return;
  }
  isBusy = false;
  if (data.failure !== undefined) {
    state.value = `nmlgen failed: ${data.failure}`;
    return;
  }
  if (judged !== view.state.doc || isStale) {
    judge();
    return;
  }
  answer = data.answer;
  show();
};

function changed() {
  delete root.dataset.judged;
  clearTimeout(timer);
  timer = setTimeout(judge, PAUSE);
}

function judge() {
  if (!isReady || isBusy) return;
  isBusy = true;
  isStale = false;
  judged = view.state.doc;
  worker.postMessage({ text: judged.toString(), ...wanted });
}

for (const [name, select] of Object.entries(choices)) {
  select.onchange = () => {
    wanted[name] = select.value;
    isStale = true;
    delete root.dataset.judged;
    judge();
  };
}

function show() {
  const length = view.state.doc.length;
  const diagnostics = answer.findings.map((finding) => ({
    from: Math.min(finding.from, length),
    to: Math.min(finding.to, length),
    severity: SEVERITIES[finding.severity],
    source: finding.code,
    message: [finding.message, ...finding.notes].join("\n"),
    actions: finding.fix ? [{ name: finding.fix.description, apply: () => mend([finding.fix]) }] : [],
  }));
  view.dispatch(setDiagnostics(view.state, diagnostics));
  view.dispatch({ effects: language.reconfigure(LANGUAGES[answer.kind] ?? []) });
  fixAll.hidden = !answer.findings.some((finding) => finding.fix?.safe);
  const count = answer.findings.length;
  for (const select of Object.values(choices)) select.disabled = answer.kind === "spec"; // which says both itself
  state.value = `${answer.kind ?? "nothing for nmlgen"}: ${count === 1 ? "1 finding" : `${count} findings`}`;
  root.dataset.judged = "";
  showTabs();
}

function showTabs() {
  const names = ["findings", ...(answer.ranks ? ["ranks"] : []), ...Object.keys(answer.files)];
  if (!names.includes(tab)) tab = "findings";
  tabs.replaceChildren(
    ...names.map((name) =>
      element(
        "button",
        { type: "button", role: "tab", ariaSelected: String(name === tab), onclick: () => ((tab = name), showTabs()) },
        name,
      ),
    ),
  );
  if (tab === "findings") {
    panel.replaceChildren(...answer.findings.map(card));
    if (answer.findings.length === 0) panel.append(element("p", {}, view.state.doc.length ? "Nothing found." : ""));
  } else {
    panel.replaceChildren(element("pre", {}, tab === "ranks" ? answer.ranks : answer.files[tab]));
  }
}

function card(finding) {
  const code = element("a", { href: `${root.dataset.root}rules/${finding.code}.html` }, finding.code);
  const head = element("h3", {}, ...(finding.code ? [code, " "] : []), finding.name);
  const where = element("button", { type: "button", className: "where", onclick: () => lead(finding) });
  where.textContent = finding.line === null ? "" : `line ${finding.line}`;
  const made = element("section", { className: `finding ${finding.severity}` }, head, where);
  made.append(element("p", {}, finding.message), ...finding.notes.map((note) => element("p", { className: "note" }, note)));
  if (finding.fix) {
    const mending = { type: "button", className: "fix", onclick: () => mend([finding.fix]) };
    made.append(element("button", mending, finding.fix.description));
  }
  return made;
}

function lead(finding) {
  view.dispatch({ selection: { anchor: finding.from, head: finding.to }, scrollIntoView: true });
  view.focus();
}

function mend(fixes) {
  if (judged !== view.state.doc) return; // the places are those of another text
  const changes = [];
  for (const edit of fixes.flatMap((fix) => fix.edits)) {
    if (changes.every((other) => edit.to < other.from || edit.from > other.to)) changes.push(edit);
  }
  view.dispatch({ changes });
}

fixAll.onclick = () => mend(answer.findings.filter((finding) => finding.fix?.safe).map((finding) => finding.fix));

function put(text) {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

function dropped(event) {
  const file = event.dataTransfer?.files[0];
  if (!file) return false;
  event.preventDefault();
  file.text().then(put);
  return true;
}

// --- The link that holds the text: deflated, in the part of the address that no server sees ---

async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(word) {
  const letters = atob(word.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

share.onclick = async () => {
  const said = new URLSearchParams({ text: await packed(view.state.doc.toString()) });
  for (const [name, value] of Object.entries(wanted)) if (value) said.set(name, value);
  history.replaceState(null, "", `#${said}`);
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  state.value = "the address holds the text now";
};

async function begin() {
  const known = await (await fetch(new URL("examples.json", base))).json();
  examples.replaceChildren(new Option("example …", ""), ...Object.keys(known).map((name) => new Option(name, name)));
  examples.onchange = () => examples.value && put(known[examples.value]);
  const said = new URLSearchParams(location.hash.slice(1));
  for (const [name, select] of Object.entries(choices)) select.value = wanted[name] = said.get(name) ?? "";
  const word = said.get("text");
  try {
    put(word ? await unpacked(word) : Object.values(known)[0]);
  } catch {
    state.value = "the link is not whole";
  }
}

addEventListener("hashchange", begin);
begin();
