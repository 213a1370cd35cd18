// Python beside the page: it judges a text and sends back what it found.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const ready = (async () => {
  const python = await loadPyodide();
  const archive = await fetch(new URL("python.zip", import.meta.url));
  python.unpackArchive(await archive.arrayBuffer(), "zip", { extractDir: "/python" });
  const program = await fetch(new URL("judging.py", import.meta.url));
  python.FS.writeFile("/python/judging.py", await program.text());
  await python.runPythonAsync("import sys; sys.path.insert(0, '/python'); import judging");
  return python.globals.get("judging");
})();

onmessage = async ({ data: { text, release, site } }) => {
  try {
    postMessage({ answer: JSON.parse((await ready).judge(text, release, site)) });
  } catch (error) {
    postMessage({ failure: String(error) });
  }
};

ready.then((judging) => postMessage({ choices: JSON.parse(judging.choices()) }), (error) => postMessage({ failure: String(error) }));
