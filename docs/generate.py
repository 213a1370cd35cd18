"""Write what the documentation takes from the program: the reference pages and the output of commands; and keep the
nodes of the presets and sites, so that no start has to read their YAML, and the template of a job as Python.

    python docs/generate.py

Tests hold both against the program, so run it after changing a schema, a rule, a message, a preset, a site or the
template of a job.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nmlgen.cli.application import application
from nmlgen.cli.logs import TABLES
from nmlgen.cli.manual import ManualPage, manual_pages
from nmlgen.lift.codes import PROBLEMS as TEXT_PROBLEMS
from nmlgen.logs.rows import columns
from nmlgen.models.icon.checks import Check, checks
from nmlgen.render.translation import translated
from nmlgen.resources import directory, schema
from nmlgen.rules import all_rules
from nmlgen.rules.rule import Rule
from nmlgen.source import Source
from nmlgen.spec import presets
from nmlgen.spec.document import read_file, read_text
from nmlgen.spec.kept import written
from nmlgen.spec.problems import PROBLEMS
from nmlgen.spec.sections import VARIABLES, WHOLE_GROUPS
from nmlgen.suppression import PROBLEMS as SUPPRESSION_PROBLEMS

DOCS = Path(__file__).parent
ROOT = DOCS.parent
ORIGINALS = ROOT / "tests" / "presets" / "originals"
_PRESETS_HEAD = """# Presets

A preset is a whole experiment: grid, levels, physics, input files, output, checkpoints and the chain of jobs; only
`icon/jabw` and `icon/nh_dcmip_tc_52` run on any grid. A spec adds where ICON lies and what is asked of the machine, and
`nmlgen init --preset icon/aquaplanet --site levante --account bb1234` writes one. The figures are from ICON's own
experiments; `nmlgen presets show icon/aquaplanet` prints a preset with its sources. `wrf/b_wave`, `palm/cbl` and
`mpas/supercell` are ideal cases of [other models](models.md#in-a-spec).

Files begin with `<pool>` where DKRZ's pool, or a copy of it at another site, has them: the site says where that is, or
`model.pool` in the spec. A spec that names its grid alone (`grid.name: R2B4`) is told which files of it the pools
have, and one that lacks an input file which of them ICON's own experiments bring. Other names are relative to
`model.directory`, the sources of ICON.

`icon/held_suarez`, `icon/nh_dcmip_tc_52`, `icon/omip`, `icon/waves` and `icon/coupled`, with small grids, short times
and without what needs files of a pool (`icon/coupled` with other physics and fields), ran in ICON 2024.10 over two jobs
each: every file, record, link and rank as nmlgen said. An ocean alone and an atmosphere coupled to an ocean ran as
chains of three jobs, each started by the build's own script; `nmlgen verify` found all that was promised.

`python benchmarks/presets.py ICON --run BINARY GRIDS` runs `icon/jabw`, `icon/held_suarez`, `icon/bubble`,
`icon/aquaplanet` and `icon/waves` on grids of 160 and 1280 cells and with ozone and depths that are made up: each
reached its first checkpoint in ICON 2024.10, and wrote the files and records that were promised. Analyses, external
parameters, boundaries or forcing of a pool are needed by `icon/amip`, `icon/land`, `icon/scm`, `icon/nwp_global`,
`icon/nwp_nest`, `icon/limarea_clm` and `icon/limarea_mch`: they cannot run without them.

Of ICON's tests of the ocean (`run/checksuite.ocean_internal`, 118 experiments) `nmlgen import` makes specs, and 61 of
them build. The release refuses the other 57, each for a reason that `nmlgen check` names: 53 set variables or ask for
output that it no longer has, or values that it does not take, three are templates without a grid or a time step, and
one is half of a pair.
"""
_CHANGES_HEAD = """`nmlgen diff` names every setting in which a preset and its original are not the same; each is argued
here, and a test holds the two lists against each other. These differences are common:"""
_FAMILIES = {
    "CPL": "coupling",
    "DSH": "Darshan",
    "DYN": "dynamics",
    "ENV": "environment",
    "GPU": "GPUs",
    "GRD": "grids",
    "INI": "initial state",
    "INP": "input files",
    "LBC": "lateral boundaries",
    "LCH": "launching",
    "LFS": "scripts' own striping",
    "LND": "land",
    "LOC": "node-local file systems",
    "LUS": "Lustre",
    "MEM": "memory",
    "MIG": "other releases",
    "CNV": "other batch systems",
    "MPI": "MPI and MPI-IO",
    "MST": "the master namelist",
    "NML": "namelists",
    "OCE": "the ocean",
    "OMP": "threads",
    "OUT": "output",
    "PAR": "ranks",
    "PHY": "physics",
    "REL": "releases",
    "RST": "checkpoints and restart",
    "RUN": "the run",
    "SBA": "batch directives of scripts",
    "SHL": "the shell",
    "SLM": "Slurm",
    "TIM": "time",
    "TRP": "transport of tracers",
    "WAV": "waves",
}
"""What the rules of a family are about, by the letters of their codes."""
NEW_PARAGRAPH = "\n\n"
_CONSOLE = re.compile(r"(^```console\n)(.*?)(^```)", re.MULTILINE | re.DOTALL)
_NMLGEN = '#!/bin/sh\nexec "{python}" -m nmlgen "$@"\n'


def pages() -> dict[Path, str]:
    """Every generated page: its path below docs/ and its text."""
    found = {Path("rules") / f"{rule.code}.md": rule_page(rule) for rule in all_rules()}
    found |= {Path("rules") / f"{code}.md": problem_page(code, *about) for code, about in TEXT_PROBLEMS.items()}
    found[Path("rules") / "index.md"] = rules_index()
    found[Path("reference") / "spec.md"] = spec_page()
    found[Path("reference") / "site.md"] = site_page()
    found[Path("reference") / "cli.md"] = cli_page()
    found[Path("reference") / "logs.md"] = logs_page()
    found[Path("presets.md")] = presets_page()
    found[Path("reference") / "icon-checks.md"] = checks_page()
    found[Path("reference") / "icon-finish.md"] = finish_page()
    return found


def kept_nodes() -> dict[Path, str]:
    """The nodes of all presets and sites that ship: paths, and what the files have."""
    places = {name: directory("presets") / f"{name}.yaml" for name in presets.names()}
    return {presets.kept_at(name): written(read_file(path, name)) for name, path in places.items()}


def job_script() -> dict[Path, str]:
    """The module that prints the template of a job: its path, and its text."""
    return {ROOT / "nmlgen" / "render" / "job_script.py": translated("job.sbatch.j2")}


def rule_page(rule: type[Rule]) -> str:
    """The page of one rule."""
    summary, _, rest = rule.document().partition("\n")
    facts = f"*{rule.severity.value}, since nmlgen {rule.since}*"
    return f"# {rule.code}: {rule.name}\n\n{facts}\n\n{summary}\n{rest}\n".replace(
        "```yaml bad", "Found:\n\n```yaml"
    ).replace("```yaml good", "Clean:\n\n```yaml")


def problem_page(code: str, name: str, text: str) -> str:
    """The page of a problem of a text."""
    return f"# {code}: {name}\n\n*since nmlgen 0.1*\n\n{text}\n"


def rules_index() -> str:
    """The list of the rules by family, and of the problems a text can have."""
    lines = [
        "# Rules",
        "",
        "An *error* means that ICON aborts, Slurm rejects, the shell fails or data are lost; it stops a build. A",
        "*warning* means that it runs, but slower or not as meant. An *advice* has a measurement behind it.",
        "`nmlgen explain CODE` prints a rule's page.",
    ]
    families: dict[str, list[type[Rule]]] = {}
    for rule in all_rules():
        families.setdefault(rule.code[:3], []).append(rule)
    for prefix, rules in families.items():
        lines += ["", f"## {prefix}: {_FAMILIES[prefix]}", "", "| code | name | severity | |", "|---|---|---|---|"]
        lines += [
            f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.value} | {rule.summary()} |"
            for rule in rules
        ]
    for title, problems in (("a spec", PROBLEMS), ("suppressions", SUPPRESSION_PROBLEMS)):
        lines += ["", f"## Problems of {title}", "", "| code | name | |", "|---|---|---|"]
        lines += [f"| {code} | {name} | {text} |" for code, (name, text) in problems.items()]
    lines += ["", "## Problems of scripts and namelist files", "", "| code | name | |", "|---|---|---|"]
    lines += [
        f"| [{code}]({code}.md) | {name} | {text.partition(NEW_PARAGRAPH)[0]} |"
        for code, (name, text) in TEXT_PROBLEMS.items()
    ]
    return "\n".join(lines) + "\n"


def spec_page() -> str:
    """The reference of the spec's keys."""
    document = schema("spec")
    lines = [
        "# The spec",
        "",
        f"{document['description']} Layers are laid over each other: the presets that `extends` names, then the",
        "site's defaults, then the spec, then `--set` of the command line. A list replaces the one before; `null`",
        "takes a key away, so that ICON's own default holds again.",
        "",
        "Durations are ISO 8601 as ICON's time library takes them (`PT12M`, `P10D`; no weeks, no fractions but of",
        "seconds), sizes carry a binary unit (`4M`, `1GiB`), time limits have one of Slurm's forms in quotes.",
        "",
    ]
    for key, part in document["properties"].items():
        lines += [f"## {key}", "", *_describe(key, part), ""]
    return "\n".join(lines)


def site_page() -> str:
    """The reference of the keys of a site file."""
    document = schema("site")
    lines = ["# A site file", "", document["description"], ""]
    for key, part in document["properties"].items():
        lines += [f"## {key}", "", *_describe(key, part), ""]
    for name, part in document["$defs"].items():
        if "properties" in part:
            lines += [f"## Each {name.replace('_', ' ')}", "", "| key | type | |", "|---|---|---|"]
            lines += [*_rows(name, "", part["properties"]), ""]
    return "\n".join(lines)


def cli_page() -> str:
    """The reference of the command line."""
    lines = [
        "# The command line",
        "",
        "What `--help` of each command prints. `nmlgen man build | man -l -` shows it as a manual page, and",
        "`nmlgen man -o ~/.local/share/man/man1` writes all of them.",
    ]
    for page in manual_pages(application):
        lines += ["", f"## {page.name}", "", *_manual(page)]
    return "\n".join(lines) + "\n"


def _manual(page: ManualPage) -> list[str]:
    lines = ["```text", f"{page.name} {page.usage}", "```"]
    for text, is_verbatim in page.blocks:
        lines += ["", *(("```sh", text, "```") if is_verbatim else (text.replace("<", "\\<"),))]
    if page.options:
        lines += ["", "| option | |", "|---|---|"]
        lines += [f"| `{name}` | {meaning.replace('|', chr(92) + '|')} |" for name, meaning in page.options]
    if page.commands:
        lines += ["", "| command | |", "|---|---|"]
        anchors = {name: f"{page.name} {name}".replace(" ", "-") for name, _ in page.commands}
        lines += [f"| [`{name}`](#{anchors[name]}) | {meaning} |" for name, meaning in page.commands]
    return lines


def presets_page() -> str:
    """The presets by group, and how each differs from its original."""
    known = read_file(ORIGINALS / "originals.yaml").node.plain()
    groups: dict[str, list[str]] = {}
    for name in presets.names():
        if not name.startswith((presets.SITE_PREFIX, "sweeps/")):
            groups.setdefault(presets.group(name), []).append(name)
    lines = [_PRESETS_HEAD]
    for group, names in groups.items():
        lines += [f"## {group[0].upper()}{group[1:]}", "", "| preset | |", "|---|---|"]
        lines += [f"| `{name}` | {presets.text(name).partition(chr(10))[0].lstrip('# ')} |" for name in names]
        lines.append("")
    lines += ["## What they change", "", _CHANGES_HEAD, "", *_argued(known["common"]), ""]
    for name, about in known["presets"].items():
        original = read_text(Source(name, presets.text(name))).plain()["about"]["original"]
        lines += [
            f"### {name}",
            "",
            f"From `{original}` of ICON {about['release']}.",
            "",
            *_argued(about["differences"]),
        ]
        lines += [f"| no stream `{stream}` | {why} |" for stream, why in about.get("left_out", {}).items()]
        lines.append("")
    return "\n".join(lines)


def _argued(entries: list[dict[str, Any]]) -> list[str]:
    rows = [f"| {', '.join(f'`{setting}`' for setting in entry['settings'])} | {entry['why']} |" for entry in entries]
    return ["| setting | why |", "|---|---|", *rows]


def logs_page() -> str:
    """The reference of the tables that are made of logs."""
    lines = [
        "# The tables of logs",
        "",
        "What [`nmlgen logs`](../logs.md) makes: a column for each field. `_s` is seconds, `_bytes` bytes,",
        "`_bytes_per_s` bytes a second; settings have ICON's names. An empty cell, `null` or `None` stands for what",
        "the log does not say.",
    ]
    for what, kind in TABLES.items():
        summary = (kind.__doc__ or "").partition(NEW_PARAGRAPH)[0].replace("\n    ", " ")
        lines += ["", f"## `--what {what}`: `nmlgen.{kind.__name__}`", "", summary, "", "| column | |", "|---|---|"]
        lines += [f"| `{name}` | {about} |" for name, about in columns(kind).items()]
    return "\n".join(lines) + "\n"


def checks_page() -> str:
    """What ICON refuses of several settings at once, rule by rule."""
    lines = [
        "# What ICON refuses of several settings at once",
        "",
        "The checks that ICON makes before its first step, as `schemas/icon-checks.json` states them. A run ends where",
        "the condition holds; the finding points at the variable in the first column.",
    ]
    for rule in all_rules():
        found = [check for check in checks() if check.rule == rule.code]
        if found:
            lines += ["", f"## [{rule.code}](../rules/{rule.code}.md): {rule.summary()}", ""]
            lines += ["| variable | it ends the run if | because | expected | source |", "|---|---|---|---|---|"]
            lines += map(_check_row, found)
    return "\n".join(lines) + "\n"


def _check_row(check: Check) -> str:
    releases = (
        f"from {check.since}" if check.since else "",
        f"up to {check.until}" if check.until else "",
        f"without {check.without}" if check.without else "",
        f"with {check.only_with} alone" if check.only_with else "",
        f"seen of programs of {' and '.join(check.fortran)}" if check.fortran else "",
    )
    when = " ".join(filter(None, releases))
    source = ", ".join(f"`{place}`" for place in check.source.split())
    condition = f"`{check.condition}`" + (f" ({when})" if when else "")
    return f"| `{check.group}: {check.name}` | {condition} | {check.says} | {check.expected} | {source} |"


def finish_page() -> str:
    """Every place at which the set-up of ICON ends a run by itself, with the rules that find it or the reason why none
    can."""
    document = json.loads((directory("schemas") / "icon-finish.json").read_text(encoding="utf-8"))
    sites = document["sites"]
    count = sum(map(len, sites.values()))
    by_rule = sum(1 for lines in sites.values() for verdict in lines.values() if verdict not in document["reasons"])
    lines = [
        "# Where ICON ends a run by itself",
        "",
        f"The {count} calls of `finish` in the cross-checks of ICON {document['release']}, its configurations,",
        f"namelist readers, output and restart set-up, split of the ranks and time control: {by_rule} of them are",
        "found by rules, the others cannot be, for a reason. [Fifty of those, drawn at random, are",
        "argued](../icon-finish-argued.md).",
        "`benchmarks/icon_finish.py` holds the table against a source tree.",
        "",
        "| reason | places | |",
        "|---|---|---|",
    ]
    for reason, about in document["reasons"].items():
        number = sum(verdict == reason for found in sites.values() for verdict in found.values())
        number += sum(entry["found"] == reason for entry in document["later"])
        lines.append(f"| {reason} | {number} | {about} |")
    lines += ["", "| file | found by | not found |", "|---|---|---|"]
    for file, found in sites.items():
        groups: dict[str, list[str]] = {}
        for line, verdict in found.items():
            groups.setdefault(verdict, []).append(line)
        rules = [(verdict, places) for verdict, places in groups.items() if verdict not in document["reasons"]]
        others = [(verdict, places) for verdict, places in groups.items() if verdict in document["reasons"]]
        cells = [
            "; ".join(f"{v.replace(',', ', ')}: {', '.join(places)}" for v, places in part) for part in (rules, others)
        ]
        lines.append(f"| `{file}` | {cells[0]} | {cells[1]} |")
    lines += ["", "## What later releases refuse besides", ""]
    lines += ["Read in their sources, file by file; where a check stands there is not counted.", ""]
    lines += ["| release | file | what is refused | found by, or the reason why not |", "|---|---|---|---|"]
    for entry in document["later"]:
        found_by = entry["found"].replace(",", ", ")
        lines.append(f"| {entry['release']} | `{entry['file']}` | {entry['when']} | {found_by} |")
    return "\n".join(lines) + "\n"


def _describe(key: str, part: dict[str, Any]) -> list[str]:
    lines = [part.get("description", "")]
    if key in WHOLE_GROUPS:
        lines += ["", f"A short way to write `namelists: {{{WHOLE_GROUPS[key]}: ...}}`."]
    if "properties" in part:
        lines += ["", "| key | type | |", "|---|---|---|"]
        lines += list(_rows(key, "", part["properties"]))
    elif key == "models":
        lines += ["", "| key below a name | type | |", "|---|---|---|"]
        lines += list(_rows(key, "", schema("spec")["$defs"]["model"]["properties"]))
    elif key not in WHOLE_GROUPS:
        lines += ["", f"Type: {_type(part)}."]
    return lines


def _rows(section: str, prefix: str, properties: dict[str, Any]) -> list[str]:
    rows = []
    for name, part in properties.items():
        text = part.get("description", "")
        if "enum" in part:
            text += f" One of: {', '.join(f'`{choice}`' for choice in part['enum'])}."
        elif "expected" in part:
            text += f" Expected: {part['expected']}."
        target = VARIABLES.get((section, name))
        if target is not None and not prefix:
            text += f" → `{target[0]}: {target[1]}`"
        text = text.replace("|", "\\|")
        rows.append(f"| `{prefix}{name}` | {_type(part)} | {text} |")
        if "properties" in part:
            rows += _rows(section, f"{prefix}{name}.", part["properties"])
    return rows


def _type(part: dict[str, Any]) -> str:
    if "$ref" in part:
        return f"as `{part['$ref'].rpartition('/')[2]}`"
    kinds = part.get("type", "number" if "const" in part else "")
    if "enum" in part:
        return "word"
    names = {"object": "mapping", "array": "list", "boolean": "true or false"}
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return " or ".join(names.get(kind, kind) for kind in kinds)


def documents() -> list[Path]:
    """The documents that show commands with their output."""
    found = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    return [path for path in found if _CONSOLE.search(path.read_text(encoding="utf-8"))]


def with_output(text: str, run: Run | None = None) -> str:
    """A document whose console blocks show what their commands print, one after the other, in a shell if `run` is not
    given."""
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory) / "work"
        work.mkdir()
        (work / "examples").symlink_to(ROOT / "examples")
        command = Path(directory) / "nmlgen"
        command.write_text(_NMLGEN.format(python=sys.executable))
        command.chmod(0o755)
        environment = os.environ | {
            "PATH": f"{directory}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "NO_COLOR": "1",
            "COLUMNS": "120",
        }

        def shown(block: re.Match[str]) -> str:
            commands = re.findall(r"^\$ .*", block[2], re.MULTILINE)
            return block[1] + "".join(_shown(line, work, environment, run or in_shell) for line in commands) + block[3]

        return _CONSOLE.sub(shown, text)


_BROKEN = re.compile(r"^Traceback \(most recent call last\)|a mistake in nmlgen", re.MULTILINE)


Run = Callable[[str, Path, dict[str, str]], str]
"""What a command prints, in a directory and an environment."""


def in_shell(command: str, work: Path, environment: dict[str, str]) -> str:
    """What a shell prints, errors among the rest."""
    script = f"exec 2>&1; {command}"
    return subprocess.run(
        ["bash", "-c", script], cwd=work, env=environment, capture_output=True, text=True, check=False
    ).stdout


def _shown(line: str, work: Path, environment: dict[str, str], run: Run = in_shell) -> str:
    command = line.removeprefix("$ ")
    printed = run(command, work, environment)
    if _BROKEN.search(printed):  # the tree may be in pieces while somebody works on it
        sys.exit(f"{line}\n{printed}\n`{command}` failed; the documents stay as they are")
    output = "".join(f"{text.rstrip()}\n" for text in printed.splitlines())
    return f"{line}\n{output}"


def main() -> None:
    """Write the pages, remove those of rules that are gone, and run the commands of all documents."""
    made = pages()
    for path, text in made.items():
        (DOCS / path).parent.mkdir(exist_ok=True)
        (DOCS / path).write_text(text, encoding="utf-8")
    for path in (DOCS / "rules").glob("*.md"):
        if path.relative_to(DOCS) not in made:
            path.unlink()
    for path, text in (kept_nodes() | job_script()).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shown = {path: with_output(path.read_text(encoding="utf-8")) for path in documents()}  # all of them, or none
    for path, text in shown.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
