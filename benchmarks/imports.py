"""What `nmlgen import` makes of run scripts: does the spec build, and is it still the same experiment?

    python benchmarks/imports.py DIRECTORY [PATTERN ...] --site NAME [--set NAME=VALUE ...]

DIRECTORY holds run scripts, such as `run/` of ICON; PATTERN says which of its files, by default `exp.*`. --set gives
what only a run knows, such as the dates of what leaves them to its wrapper. Each script is imported and built; then
what was built is compared with the spec, and with the script. What ICON refuses of a script is ignored by its spec.
There is a line for each script of which not all of that holds, or of which something is ignored.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import nmlgen

_ACCOUNT = ("job.account=none",)
_OF_OURS = ("--account",)


def differing(comparison: nmlgen.Comparison, ours: tuple[str, ...] = ()) -> str:
    """What two experiments are known to have differently, but for what this measurement itself sets, and for the name
    that sbatch makes of a file."""
    found = [one for one in comparison.differences if one.verdict.name == "DIFFERENT" and one.name not in ours]
    found = [one for one in found if one.name != "--job-name" or one.old is not None]
    return ", ".join(f"{one.section} {one.name}" for one in found)


def outcome(script: Path, site: str, variables: dict[str, str], home: Path) -> tuple[str, str]:
    """How far a script comes, and why no further."""
    try:
        imported = nmlgen.import_spec(script, site=site, variables=variables, directory=home, add_ignore=True)
    except nmlgen.InputError as error:
        return "not imported", str(error)
    if imported.remarks:
        return "something left to do", "; ".join(imported.remarks)
    spec = home / "spec.yaml"
    spec.write_text(imported.text, encoding="utf-8")
    try:
        built = nmlgen.build(spec, overrides=_ACCOUNT)
    except nmlgen.BuildError:
        return "not built", "; ".join(imported.refusals)
    built.write(home / "built", force=True)
    changed = differing(nmlgen.compare(nmlgen.load_spec(spec, _ACCOUNT), home / "built"))
    if changed:
        return "the build is not the spec", changed
    changed = differing(nmlgen.compare(script, home / "built", variables=variables), _OF_OURS)
    if changed:
        return "the build is not the script", changed
    return ("the same, which ICON refuses", "; ".join(imported.refusals)) if imported.refusals else ("the same", "")


def main() -> None:
    """Print a line for each script that is not the same, and how many came how far."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("patterns", nargs="*", default=["exp.*"])
    parser.add_argument("--site", required=True)
    parser.add_argument("--set", action="append", default=[], dest="variables")
    arguments = parser.parse_args()
    variables = dict(text.partition("=")[::2] for text in arguments.variables)
    scripts = {path for pattern in arguments.patterns for path in arguments.directory.glob(pattern) if path.is_file()}
    if not scripts:
        parser.exit(2, f"no file {' or '.join(arguments.patterns)} in {arguments.directory}\n")
    found: Counter[str] = Counter()
    for script in sorted(scripts):
        with tempfile.TemporaryDirectory() as directory:
            result, why = outcome(script, arguments.site, variables, Path(directory))
        found[result] += 1
        if why:
            print(f"{script.name}: {result}: {why}", flush=True)
    for result, count in found.most_common():
        print(f"{result:<30} {count:4d}")


if __name__ == "__main__":
    main()
