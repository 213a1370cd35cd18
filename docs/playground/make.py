"""Make what the playground loads: `python docs/playground/make.py OUT`, then `-D html_extra_path=OUT` for the site.

Needs npm, for the editor and for Python as the browser runs it, and pip, for the libraries. All of it lies on the site
afterwards: the playground asks nobody else for anything.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
# Without compiled parts: of MarkupSafe and pyrsistent what is left does the same, jsonschema later needs one.
LIBRARIES = (
    "attrs",
    "click",
    "f90nml",
    "Jinja2",
    "jsonschema==4.17.3",
    "MarkupSafe",
    "pyrsistent",
    "rich",
    "ruamel.yaml",
)
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip")
EXAMPLES = ("aquaplanet.run", "nh_dcmip_tc_52_r2b5.yaml", "jabw.run", "left_open.yaml")
_STAMP = (1980, 1, 1, 0, 0, 0)


def make(out: Path) -> None:
    """Write everything into the directory `playground` of `out`."""
    target = out / "playground"
    (target / "pyodide").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        for name in ("package.json", "playground.mjs"):
            shutil.copy(HERE / name, work / name)
        npm = ["npm", "--prefix", str(work)]
        _run(*npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
        _run(*npm, "run", "build", "--silent", "--", f"--outfile={(target / 'playground.js').resolve()}", cwd=work)
        for name in PYODIDE:
            shutil.copy(work / "node_modules" / "pyodide" / name, target / "pyodide" / name)
        site = work / "site"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", str(site)]
        _run(*pip, str(ROOT), *LIBRARIES)
        _pack(site, target / "python.zip")
    shutil.copy(HERE / "worker.mjs", target / "worker.js")
    shutil.copy(HERE / "judging.py", target / "judging.py")
    examples = {name: (ROOT / "examples" / name).read_text(encoding="utf-8") for name in EXAMPLES}
    (target / "examples.json").write_text(json.dumps(examples), encoding="utf-8")


def _pack(site: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(site.rglob("*")):
            name = path.relative_to(site)
            if path.is_file() and path.suffix not in (".so", ".pyc") and name.parts[0] != "bin":
                file.writestr(zipfile.ZipInfo(name.as_posix(), _STAMP), path.read_bytes(), zipfile.ZIP_DEFLATED)


def _run(*command: str, cwd: Path | None = None) -> None:
    subprocess.run(command, cwd=cwd, check=True)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
