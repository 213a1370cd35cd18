"""Inputs of a megabyte: what any budget must bear, or name as too large."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import icon_logs
from specs import changed

from fuzzing.cases import Case, yaml_of
from fuzzing.limited import Ended

ROOT = Path(__file__).parents[2]
SIZE = 10**6


def _filled(pattern: str, head: str = "", tail: str = "") -> bytes:
    """Head and tail with as many copies between them as a megabyte holds; `#` in a pattern counts them."""
    pieces, size, number = [head], len(head) + len(tail), 0
    while size < SIZE - len(pattern) - 7:
        pieces.append(pattern.replace("#", str(number)))
        size += len(pieces[-1])
        number += 1
    return ("".join(pieces) + tail).encode()


def _spec(text: str) -> bytes:
    """A good spec with something behind it, which stands in the place of a section of that name."""
    section = text.partition('"')[2].partition('"')[0]
    kept = {key: value for key, value in changed().items() if key != section}
    return yaml_of(kept).rstrip().removesuffix(b"}") + b",\n" + text.encode() + b"}\n"


def _list(item: str) -> str:
    return "[" + _filled(item + ", ").decode() + item + "]"


def _streams(said: str) -> bytes:
    """A spec of so many streams that say this as it may have."""
    streams = (f'"s{number}": {{"output_interval": "PT1H", "file_interval": "P1D", {said}}}' for number in range(499))
    return _spec('"output": {' + ", ".join(streams) + "}")


SPECS: Mapping[str, Callable[[], bytes]] = {
    "one scalar": lambda: b"a: " + b"x" * SIZE,
    "one number": lambda: b"a: " + b"9" * SIZE,
    "one key": lambda: b"x" * SIZE + b": 1",
    "one comment": lambda: _filled("# a comment\n"),
    "keys": lambda: _filled("key#: 1\n"),
    "environment": lambda: _spec('"environment": {' + _filled('"A#": "b", ').decode() + '"Z": "z"}'),
    "a varlist": lambda: _spec('"namelists": {"output_nml": {"ml_varlist": ' + _list('"u"') + "}}"),
    "numbers": lambda: _spec('"namelists": {"run_nml": {"num_lev": ' + _list("1") + "}}"),
    "variables": lambda: _spec('"namelists": {"run_nml": {' + _filled('"x#": 1, ').decode() + '"y": 1}}'),
    "groups": lambda: _spec('"namelists": {' + _filled('"g#_nml": {"a": 1}, ').decode() + '"h_nml": {"a": 1}}'),
    "streams": lambda: _spec(
        '"output": {' + _filled('"s#": {"output_interval": "PT1H", "ml_varlist": ["u"]}, ').decode() + '"t": null}'
    ),
    "few streams": lambda: _spec(
        '"output": {'
        + ", ".join(f'"s{number}": {{"output_interval": "PT1H", "ml_varlist": ["u"]}}' for number in range(500))
        + "}"
    ),
    "groups of variables": lambda: _streams('"ml_varlist": ["group:all", "group:nh_prog_vars", "u", "temp"]'),
    "statistics": lambda: _streams('"operation": "mean", "ml_varlist": ["u", "v", "temp", "pres", "w", "rho"]'),
    "levels": lambda: _streams('"m_levels": "31", "ml_varlist": ["u", "v", "temp", "pres", "qv"]'),
    "partitions": lambda: _streams('"stream_partitions_ml": 500, "ml_varlist": ["u"]'),
    "names": lambda: _spec('"output": {"s": {"output_interval": "PT1H", "ml_varlist": ' + _list('"x#"') + "}}"),
    "inputs": lambda: _spec('"input_files": {' + _filled('"f#": {"source": "a"}, ').decode() + '"g": {"source": "b"}}'),
    "modules": lambda: _spec('"modules": ' + _list('"m"')),
    "points": lambda: _spec('"sweep": {"points": ' + _list('{"job.nodes": 1}') + "}"),
    "a grid": lambda: _spec('"sweep": {"grid": {"job.nodes": ' + _list("1") + "}}"),
    "depth": lambda: b"a: " + b"[" * (SIZE // 2) + b"]" * (SIZE // 2),
    "mappings in depth": lambda: b"{a: " * (SIZE // 5),
    "blocks in depth": lambda: "".join(" " * n + "a:\n" for n in range(1400)).encode(),
    "anchors": lambda: _filled("a#: &a# x\n"),
    "aliases": lambda: _filled("a#: *a\n", "a: &a [1, 2, 3]\n"),
    "laughs": lambda: (
        b"a0: &a0 [x, x]\n" + b"".join(b"a%d: &a%d [*a%d, *a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 60))
    ),
    "documents": lambda: _filled("---\na: 1\n"),
    "a block of text": lambda: _filled("  text\n", "a: |\n"),
    "quotes": lambda: b"a: '" + b"''" * (SIZE // 2),
    "escapes": lambda: b'a: "' + b"\\u0041" * (SIZE // 6) + b'"',
    "tabs": lambda: b"a:" + b"\t" * SIZE,
    "blanks": lambda: b" " * SIZE,
    "lines": lambda: b"\n" * SIZE,
    "colons": lambda: b":" * SIZE,
    "dashes": lambda: b"- " * (SIZE // 2),
    "question marks": lambda: b"? " * (SIZE // 2),
    "tags": lambda: b"!" * SIZE,
    "one tag": lambda: b"a: !" + b"x" * SIZE + b" b",
    "a tag in numbers": lambda: b"a: !<" + b"%41" * (SIZE // 3) + b"> b",
    "one anchor": lambda: b"a: &" + b"x" * SIZE + b" b",
    "one alias": lambda: b"a: *" + b"x" * SIZE,
    "one directive": lambda: b"%" + b"x" * SIZE,
    "a folded text": lambda: _filled("  a b\n\n", "a: >\n"),
    "a text in lines": lambda: _filled("  a b\n\n", "a: a\n"),
    "a quoted text in lines": lambda: _filled("  a b\n\n", 'a: "a\n', '"'),
    "bytes": lambda: b"\xff" * SIZE,
}
NAMELISTS: Mapping[str, Callable[[], bytes]] = {
    "assignments": lambda: _filled(" nsteps = 1\n", "&run_nml\n", "/\n"),
    "variables": lambda: _filled(" x# = 1\n", "&run_nml\n", "/\n"),
    "elements": lambda: _filled(" num_lev(#) = 1\n", "&run_nml\n", "/\n"),
    "values": lambda: _filled("1, ", "&run_nml\n num_lev = ", "\n/\n"),
    "texts": lambda: _filled("'u', ", "&output_nml\n ml_varlist = ", "\n/\n"),
    "one text": lambda: _filled("u", "&output_nml\n ml_varlist = '", "'\n/\n"),
    "an open text": lambda: _filled("u\n", "&output_nml\n ml_varlist = '"),
    "groups": lambda: _filled("&run_nml nsteps = 1 /\n"),
    "streams": lambda: _filled("&output_nml output_interval='PT1H' ml_varlist='u' filename='a#' /\n"),
    "open groups": lambda: _filled("&run_nml\n"),
    "ends": lambda: _filled("/"),
    "ampersands": lambda: _filled("&"),
    "comments": lambda: _filled("! x\n", "&run_nml\n", "/\n"),
    "a long line": lambda: _filled(" ", "&run_nml nsteps=1", "/\n"),
    "commas": lambda: _filled(",", "&run_nml num_lev = ", "/\n"),
    "equals": lambda: _filled("= ", "&run_nml a ", "/\n"),
    "brackets": lambda: _filled("(", "&run_nml a", "/\n"),
    "percents": lambda: _filled("%a", "&run_nml a", " = 1 /\n"),
    "words": lambda: _filled("a ", "&run_nml nsteps = ", "/\n"),
    "repeats": lambda: _filled("1*", "&run_nml nsteps = ", "/\n"),
    "digits": lambda: _filled("1", "&run_nml nsteps = ", "x /\n"),
    "digits of a complex number": lambda: _filled("1", "&run_nml nsteps = (", "x, 1) /\n"),
    "one word": lambda: _filled("a", "&run_nml nsteps = ", "/\n"),
    "quotes": lambda: _filled("''", "&run_nml nsteps = ", "/\n"),
    "bytes": lambda: b"\xff" * SIZE,
    "nothing": lambda: b"\0" * SIZE,
    "repeat counts": lambda: _filled(" x# = 100000*1\n", "&run_nml\n", "/\n"),
}
MASTERS: Mapping[str, Callable[[], bytes]] = {
    "models": lambda: _filled("&master_model_nml model_type = 1 model_name = 'm#' /\n", _MASTER.decode()),
    "models in lines": lambda: _filled("&master_model_nml\n model_type = 1\n x# = 2\n/\n", _MASTER.decode()),
    "models of one file": lambda: _filled(
        "&master_model_nml model_type = 2 model_name = 'm#' model_namelist_filename = 'NAMELIST_wave' /\n",
        _MASTER.decode(),
    ),
    "land": lambda: _filled("&jsb_model_nml model_namelist_filename = 'NAMELIST_wave' /\n", _MASTER.decode()),
}
SCRIPTS: Mapping[str, Callable[[], bytes]] = {
    "commands": lambda: _filled("echo a\n"),
    "assignments": lambda: _filled("a#=b\n"),
    "growing": lambda: _filled("a=$a$a\n", "a=x\n"),
    "appending": lambda: _filled("a+=x\n"),
    "long pipes": lambda: _filled("echo a | ", "", "cat\n"),
    "ands": lambda: _filled("true && ", "", "true\n"),
    "ifs": lambda: _filled("if x; then y; fi\n"),
    "unknown ifs": lambda: _filled("if x; then a=#; else a=0; fi\n"),
    "ifs in depth": lambda: _filled("if x; then\n"),
    "loops": lambda: _filled("for i in 1 2 3; do a=$i; done\n"),
    "loops in depth": lambda: _filled("for i in 1 2 3; do\n"),
    "functions": lambda: _filled("f#() { a=1; }\nf#\n"),
    "calls": lambda: _filled("f\n", "f() { a=1; }\n"),
    "here-documents": lambda: _filled("cat << EOF > x#\n&run_nml\n/\nEOF\n"),
    "one here-document": lambda: _filled(" a = $b\n", "cat << EOF > x\n&run_nml\n", "/\nEOF\n"),
    "open here-documents": lambda: _filled("cat << EOF#\n"),
    "substitutions": lambda: _filled("a=$(echo b)\n"),
    "substitutions in depth": lambda: _filled("$("),
    "backticks": lambda: _filled("`"),
    "braces": lambda: _filled("${a:-"),
    "arithmetic": lambda: _filled("((a = a + 1))\n"),
    "a sum": lambda: _filled("1 + ", "a=$((", "1))\n"),
    "brackets in a sum": lambda: _filled("(", "a=$(("),
    "quotes": lambda: _filled("'"),
    "double quotes": lambda: _filled('"$a" '),
    "an open quote": lambda: _filled("a b $c\n", '"'),
    "words": lambda: _filled("a ", "echo ", "\n"),
    "one word": lambda: _filled("a", "echo ", "\n"),
    "digits": lambda: _filled("1", "echo $((", "x\n"),
    "a preloaded word": lambda: _filled("a", "#!/bin/bash\nexport LD_PRELOAD=", "\nsrun ./icon\n"),
    "a sum of a word": lambda: _filled("a", "(( b = ", " ))\n"),
    "subscripts in a sum": lambda: _filled("a[", "while x; do (( b = ", " )); done\n"),
    "brackets of an expression": lambda: _filled("[", "cat > a << E\nb\nE\nsed -i 's/", "/c/' a\n"),
    "a number to print": lambda: _filled("1", "a=$(printf %f ", "x)\n"),
    "backslashes": lambda: _filled("\\"),
    "continued lines": lambda: _filled("a \\\n"),
    "semicolons": lambda: _filled(";"),
    "ampersands": lambda: _filled("&"),
    "redirections": lambda: _filled("< a "),
    "stars": lambda: _filled("*", "echo ", "\n"),
    "alternatives": lambda: _filled("{a,b}", "echo ", "\n"),
    "cases": lambda: _filled("a) b ;;\n", "case x in\n", "esac\n"),
    "directives": lambda: _filled("#SBATCH --nodes=1\n", "#!/bin/bash\n"),
    "comments": lambda: _filled("# a\n"),
    "crlf": lambda: _filled("echo a\r\n"),
    "seds": lambda: _filled("sed -i s/a/b/ icon_master.namelist\n", "cat > icon_master.namelist <<E\n&a\n/\nE\n"),
    "evals": lambda: _filled("eval a=1\n"),
    "arrays": lambda: _filled("a[#]=1\n"),
    "an array": lambda: _filled("x ", "a=(", ")\necho ${a[@]}\n"),
    "an array again": lambda: _filled("b=(${a[@]})\n", "a=(" + "x " * 1000 + ")\n"),
    "writing": lambda: _filled("echo a >> x\n"),
    "launches": lambda: _filled("srun ./icon\n"),
    "parts of a launch": lambda: _filled("-np 4 ./icon : ", "#!/bin/bash\nmpirun ", "-np 4 ./icon\n"),
    "chunks": lambda: _filled("1000000000:ncpus=8+", "#!/bin/bash\n#PBS -l select=", "1:ncpus=8\nmpirun ./icon\n"),
    "bytes": lambda: b"\xff" * SIZE,
    "nothing": lambda: b"\0" * SIZE,
}
LOGS: Mapping[str, Callable[[], bytes]] = {
    "runs": lambda: icon_logs.text(icon_logs.log()) * (SIZE // len(icon_logs.text(icon_logs.log())) + 1),
    "lines": lambda: _filled("0: a line\n"),
    "one line": lambda: b"x" * SIZE,
    "steps": lambda: _filled("Time step:      #, model time: 2008-09-01 00:02:00.000\n"),
    "outputs": lambda: _filled("Output to a_#.nc at simulation time 2008-09-01T00:00:00.000 by PE 4\n"),
    "rows": lambda: _filled(" a#   1   0.1s   0.1s   0.1s\n"),
    "bytes": lambda: b"\xff" * SIZE,
    "nothing": lambda: b"\0" * SIZE,
}
TABLES: Mapping[str, Callable[[], bytes]] = {
    "ignored": lambda: _filled('[[ignore]]\nrule = "PAR004"\npath = "*#"\nreason = "x"\n'),
    "profile": lambda: _filled('a# = "b"\n', "[profile]\n"),
    "select": lambda: _filled('"RST", ', "select = [", "]\n"),
    "brackets": lambda: b"a = " + b"[" * SIZE,
    "keys": lambda: _filled("a.", "", "b = 1\n"),
}


def large(_: random.Random) -> Iterator[Case]:
    """Each input once, with the commands that read it."""
    spec, on_site = yaml_of(changed()), yaml_of(changed(site="./site.yaml"))
    script = (ROOT / "examples" / "jabw.run").read_bytes()
    for make in SPECS.values():
        yield Case({"spec.yaml": make()}, (("check", "spec.yaml"), ("build", "spec.yaml", "-o", "made")), _told)
        yield Case({"spec.yaml": on_site, "site.yaml": make()}, (("check", "spec.yaml"),), _told)
        yield Case({"coupling.yaml": make(), "a.run": script + b"\ncp coupling.yaml .\n"}, (("lint", "."),), _told)
    for make in NAMELISTS.values():
        yield Case({"run/NAMELIST_wave": make(), "run/icon_master.namelist": _MASTER}, _NAMELIST_CALLS, _told)
    for make in MASTERS.values():
        model = b"&run_nml\n num_lev = 30\n/\n"
        yield Case({"run/NAMELIST_wave": model, "run/icon_master.namelist": make()}, _NAMELIST_CALLS, _told)
    models = _MASTER + _MASTER[_MASTER.index(b"&master_model_nml") : _MASTER.index(b"&master_time")] * 15
    yield Case({"run/NAMELIST_wave": _SHARED, "run/icon_master.namelist": models}, _NAMELIST_CALLS, _told)
    for make in SCRIPTS.values():
        yield Case({"a.run": make()}, (("lint", "a.run"), ("import", "a.run", "-o", "made.yaml")), _told)
    for make in LOGS.values():
        yield Case({"LOG.a": make()}, (("logs", "LOG.a"), ("compare", "LOG.a", "LOG.a")), _told)
    for make in TABLES.values():
        yield Case({"nmlgen.toml": make(), "a.run": script, "spec.yaml": spec}, (("lint", "a.run"),), _told)


_NAMELIST_CALLS = (
    *(("lint", "run", "--ntasks", "4"), ("import", "run", "-o", "made.yaml"), ("diff", "run", "run")),
    *(("ranks", "run", "--ntasks", "4"), ("verify", "run", "--ntasks", "4")),
)
_MASTER = b"""&master_nml
/
&master_model_nml
 model_type = 1 model_name = 'atm' model_namelist_filename = 'NAMELIST_wave'
/
&master_time_control_nml
 experimentStartDate = '2008-09-01T00:00:00Z' experimentStopDate = '2008-09-02T00:00:00Z'
/
"""


_SHARED = b"&run_nml\n num_lev = 30\n/\n" + b"&output_nml\n ml_varlist = 'u', output_interval = 'PT1H'\n/\n" * 900


def _told(ends: list[Ended]) -> bool:
    return ends[0].code in (0, 1)
