"""What somebody would write who wants nmlgen to go astray: scripts whose words grow, loop and call themselves,
namelists and specs at the ends of what numbers and dates can be, patterns that can be matched in many ways, directories
full of links and files, and all of them in other encodings."""

from __future__ import annotations

import random
from collections.abc import Iterator

from specs import changed

from fuzzing.cases import Case, yaml_of
from fuzzing.limited import Ended


def _told(ends: list[Ended]) -> bool:
    return ends[0].code in (0, 1)


# --- Scripts

_MANY = (
    "{1..10**9}",
    "{1..999999999}",
    "{a..z}{a..z}{a..z}{a..z}{a..z}",
    "{0..99999..0}",
    "{{a,b},{c,{d,e}}}{,,,,}" * 9,
)
_SUMS = (
    *(
        "2**2**2**2**2**2",
        "10**10**10",
        "1<<10**9",
        "-9223372036854775808/-1",
        "a=b=c=a+1",
        "a?b?c?1:2:3:4",
        "a[a[a[1]]]",
    ),
    *(
        "x++ + ++x - --x",
        "(" * 300 + "1" + ")" * 300,
        "1?" * 500 + "1" + ":1" * 500,
        "36#zz ** 9",
        "65#1",
        "0x" + "f" * 5000,
    ),
)
_GLOBS = (
    "*" * 60 + "b",
    "*a" * 40,
    "@(a|aa|aaa)" * 20,
    "+(a|+(aa))",
    "!(!(!(a)))*",
    "[[:alpha:][:digit:]]" * 60,
    "?(*)" * 40,
)
_PIECES = (
    "f() {{ f; f; }}; f",
    "f() {{ g $1$1; }}; g() {{ f $1$1; }}; f a",
    "x=aa; for i in {many}; do x=$x$x; done",
    "for i in {many}; do for j in {many}; do echo $i$j >> out; done; done",
    "while :; do n=$((n + 1)); y=$y$n; done",
    "until false; do break 99999999999; done",
    "x=$(printf 'a%.0s' {many})",
    "x=$(( {sum} )); (( y = {sum} )); let 'z={sum}'",
    "x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac; echo ${{x//{glob}/$x}} ${{x##{glob}}} ${{x%%{glob}}}",
    "case aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac in {glob}) y=1 ;;& {glob}) y=2 ;& *) y=3 ;; esac",
    "[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac == {glob} && $x =~ ^((a+)+)+$ ]] && y=1",
    ". ./a.sh; source b.sh; . ./exp.run",
    'eval "eval \\"eval \'x=$x\'\\""',
    "cat <<A <<B <<-'C' > NAMELIST_x\n&run_nml\n $(cat <<D\n${{x:-`cat <<E\nE\n`}}\nD\n)\nA\n/\nB\n",
    "cat <<EOF\n$(cat <<EOF\n$(cat <<EOF\n",
    "x=${{x:-${{x:-${{x:-${{x:-$x}}}}}}}}",
    "declare -A m; m[{many}]=1; m+=([$x]={many}); echo ${{!m[@]}} ${{m[@]:0:999999999}}",
    "declare -n r=r; r=1; declare -n p=q q=p; echo $p",
    "a[999999999999]=1; a=({many}); echo ${{a[@]/%/${{a[*]}}}}",
    "set -- {many}; while shift; do x=$x$1; done",
    "IFS=$x; read -r {many} <<< $x$x$x",
    "printf '%*d%999999999s' 999999999 1 2",
    "trap 'trap \"f\" EXIT; f' EXIT ERR DEBUG; exit",
    "coproc {{ cat; }}; exec 3<>/dev/tcp/localhost/1 {{fd}}<&3",
    "cp -r . ./a; ln -s . loop; mv loop/loop/loop x; rm -rf /",
    "sed -i 's/\\(.*\\)*x/\\1\\1/g;:a;s/a/aa/;ta' NAMELIST_x; awk 'BEGIN {{ while (1) x = x x }}'",
    "sbatch $0; sbatch a.sh; bash b.sh; exec $0",
    "srun -n $(( {sum} )) -N {many} ./icon",
    "echo 'a\u202eb\u2066c' $'\\x00\\u202e\\UFFFFFFFF' \u2028\ufeff",
    "if {{ ! {{ ! {{ ! x; }}; }}; }}; then :; elif [ a -a a -o a ]; then (((((x))))); fi",
    "time ! time ! time -p coproc x | y |& z &",
    "select x in {many}; do break; done",
    "date -d '999999999 years' +%Y; x=$(date -d \"$x + 10**9 days\"); seq 1 999999999",
)
_SCRIPT = "#!/bin/bash\n#SBATCH --nodes=2\ncat > NAMELIST_x <<EOF\n&run_nml\n num_lev = 30\n/\nEOF\n"


def _piece(pick: random.Random) -> str:
    text = pick.choice(_PIECES).format(
        many=pick.choice(_MANY), sum=pick.choice(_SUMS), glob=pick.choice(_GLOBS), fd="{fd}"
    )
    turn = pick.random()
    if turn < 0.1:
        return f"g() {{ {text}\n}}\ng; g\n"
    if turn < 0.2:
        return f"if x; then\n{text}\nelse\n{_piece(pick)}\nfi\n"
    if turn < 0.3:
        return f"for k in 1 2 3; do\n{text}\ndone\n"
    if turn < 0.35:
        return f"x=$(\n{text}\n)\n"
    return text + "\n"


def mazes_of_scripts(generator: random.Random) -> Iterator[Case]:
    """Scripts of a few such commands, and two that source each other and the first."""
    shows = (
        *(("import", "exp.run", "-o", "x.yaml"), ("convert", "exp.run", "--to", "pbs"), ("ranks", "exp.run")),
        *(
            ("migrate", "exp.run", "--to", "2025.10"),
            ("lint", ".", "--fix", "--unsafe-fixes"),
            ("diff", "exp.run", "a.sh"),
        ),
    )
    while True:
        texts = ["".join(_piece(generator) for _ in range(generator.choice((1, 2, 3, 9)))) for _ in range(3)]
        files = {
            "exp.run": _SCRIPT + texts[0] + "srun ./icon\n",
            "a.sh": texts[1] + ". ./b.sh\n",
            "b.sh": texts[2] + ". ./a.sh\n. ./exp.run\n",
        }
        data = {name: _encoded(text, generator) for name, text in files.items()}
        yield Case(data, (("lint", "exp.run"), generator.choice(shows)), _told)


def _encoded(text: str, pick: random.Random) -> bytes:
    """In UTF-8 mostly; else with other ends of lines, with a mark of the order of bytes, with bytes between, twice."""
    data = text.encode("utf-8", "surrogatepass")
    turn = pick.randrange(24)
    if turn == 0:
        return data.replace(b"\n", pick.choice((b"\r\n", b"\r", b"\n\r", b"\x0b", b"\x0c", b"\xc2\x85", b"\\\n")))
    if turn == 1:
        return text.encode(pick.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-7")), "replace")
    if turn == 2:
        place = pick.randrange(len(data) + 1)
        return data[:place] + pick.choice((b"\0", b"\xff\xfe", b"\x1a", b"\xed\xa0\x80", b"\xc0\x80")) + data[place:]
    if turn == 3:
        half = len(data) // 2
        return data[:half] + data[half:].decode("utf-8", "replace").encode("utf-16-le")
    if turn == 4:
        return data.replace(b" ", pick.choice((b"\xc2\xa0", b"\xe3\x80\x80", b"\t\t", b"\xe2\x80\x8b", b" " * 3000)))[
            : 10**6
        ]
    return data


# --- Namelists and specs

_VALUES = (
    *(
        "10**9",
        "1000000000*1",
        "999999999999*'a'",
        "0*1",
        "-1*1",
        "1*",
        "2*3*4",
        "1e400",
        "-0",
        "1.d-400",
        "z'FFFFFFFFFFFFFFFFFF'",
    ),
    *("'P999999999Y'", "'PT9999999999999S'", "'-P1Y'", "'P'", "'PT0S'", "'P1M'", "'PT1E9S'", "'9999-12-31T23:59:60Z'"),
    *(
        "'-99999-01-01T00:00:00Z'",
        "'0000-00-00'",
        "'2000-02-30'",
        "(1,2)",
        "((((1",
        ".tru.",
        "T,F,T",
        "''" * 2000,
        "'" + "a" * 9000,
    ),
    *(
        "'<output_filename>_" + "<jfile>" * 99 + "'",
        "'../" * 99 + "a'",
        "'\u202ea'",
        "9" * 4000,
        "1, " * 3000,
        ",,,,",
        "!",
    ),
)
_TARGETS = (
    *(
        "num_lev",
        "num_lev(1:1000000000)",
        "num_lev(1000000000)",
        "num_lev(:)",
        "num_lev(5:1:-1)",
        "num_lev(-1)",
        "dtime",
        "nsteps",
    ),
    *(
        "output_interval",
        "output_start",
        "output_end",
        "output_bounds",
        "file_interval",
        "ml_varlist",
        "ml_varlist(999999999)",
    ),
    *(
        "stream_partitions_ml",
        "pe_placement_ml",
        "m_levels",
        "p_levels",
        "filename_format",
        "output_filename",
        "steps_per_file",
    ),
    *(
        "a%b%c%d(1)%e",
        "a(1)(2)",
        "x" * 3000,
        "restarttimeintval",
        "modeltimestep",
        "num_io_procs",
        "dynamics_grid_filename",
    ),
    *(
        "experimentstopdate",
        "checkpointtimeintval",
        "model_min_rank",
        "model_max_rank",
        "num_restart_procs",
        "nproma",
        "itopo",
    ),
)
_GROUPS = (
    "run_nml",
    "output_nml",
    "parallel_nml",
    "grid_nml",
    "io_nml",
    "master_time_control_nml",
    "master_model_nml",
    "a",
)
_MASTER = """\
&master_nml
/
&master_model_nml
 model_type = 1, model_name = 'atm', model_namelist_filename = 'NAMELIST_x'
/
&master_time_control_nml
 experimentStartDate = '2000-01-01T00:00:00Z', experimentStopDate = '2000-02-01T00:00:00Z'
/
"""


def _group(pick: random.Random) -> str:
    lines = [f" {pick.choice(_TARGETS)} = {pick.choice(_VALUES)}" for _ in range(pick.choice((1, 2, 5, 20)))]
    return (
        f"&{pick.choice(_GROUPS)}\n"
        + pick.choice(("\n", ",\n", " ")).join(lines)
        + pick.choice(("\n/\n", "/", "\n&end\n", "\n"))
    )


def mazes_of_namelists(generator: random.Random) -> Iterator[Case]:
    """A master and a model's namelist of such values."""
    shows = ("ranks", "volume", "verify", "advise", "join")
    while True:
        texts = ["".join(_group(generator) for _ in range(generator.choice((1, 3, 12)))) for _ in range(2)]
        files = {
            "run/icon_master.namelist": _encoded(_MASTER + generator.choice(("", "", texts[1])), generator),
            "run/NAMELIST_x": _encoded("&run_nml num_lev=30 dtime=60 output='nml' /\n" + texts[0], generator),
        }
        show = (generator.choice(shows), "run", "--ntasks", generator.choice(("4", "1", "999999999")))
        others = (("import", "run", "-o", "x.yaml"), ("migrate", "run", "--to", "2025.10"), ("diff", "run", "run"))
        yield Case(files, (("lint", "run"), generator.choice((show, show, *others))), _told)


_TIMES = (
    *("P999999999Y", "PT0.000000001S", "P1M", "-PT1H", "PT999999999999999H", "P0D", "PT1S", "P9999Y", "P1Y2M3DT4H5M6S"),
    *(
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00Z",
        "2000-02-29T24:00:00Z",
        "-5000-01-01T00:00:00Z",
        "99999-01-01T00:00:00Z",
    ),
)
_PATTERNS = (
    "*" * 40,
    "**/" * 40 + "x",
    "[" * 99,
    "{a,b}" * 30,
    "(a+)+$",
    "a" * 5000,
    "[!-~]*[z-a]",
    "../" * 60 + "*",
    "/",
    "~",
    "\u202e*",
)
_PLACES = (
    *(
        "time.start",
        "time.stop",
        "time.modelTimeStep",
        "restart.checkpointTimeIntval",
        "restart.restartTimeIntval",
        "job.time",
    ),
    *("output.atm.output_interval", "output.atm.file_interval", "output.atm.output_start", "output.atm.output_end"),
    *(
        "job.nodes",
        "job.ntasks_per_node",
        "parallel.nproma",
        "parallel.num_io_procs",
        "grid.num_lev",
        "grid.file",
        "name",
    ),
    *(
        "output.atm.stream_partitions_ml",
        "output.atm.ml_varlist",
        "output.atm.p_levels",
        "model.executable",
        "job.account",
    ),
    *(
        "output.atm.filename_format",
        "output.atm.output_filename",
        "output.atm.pe_placement_ml",
        "job.dependency",
        "job.array",
    ),
)
_EXPRESSIONS = (
    *(
        "job.nodes ** job.nodes ** job.nodes",
        "'a' * 10 ** 9",
        "((((" * 200,
        "not " * 3000 + "1",
        "1 if 1 else " * 900 + "1",
    ),
    *(
        "job.nodes == 1 or " * 900 + "1",
        "10 ** 10 ** 10",
        "-" * 5000 + "1",
        "[[[[1]]]]",
        "__import__('os')",
        "1 / 0",
        "job.nodes % 0",
    ),
    *(
        "max(job.nodes, max(1, 2))",
        "'%s' % job.nodes",
        "job.nodes << 999999",
        "a.b.c.d",
        "lambda: 1",
        "1e308 * 1e308",
        "0x" + "f" * 5000,
    ),
)


def mazes_of_specs(generator: random.Random) -> Iterator[Case]:
    """Specs at the ends of what values can be, with sweeps whose expressions nest, and patterns of a configuration."""
    shows = (
        *(("ranks", "spec.yaml"), ("volume", "spec.yaml"), ("advise", "spec.yaml"), ("why", "spec.yaml", "job.nodes")),
        *(
            ("sweep", "spec.yaml", "--dry-run"),
            ("lint", "."),
            ("diff", "spec.yaml", "spec.yaml"),
            ("tune", "spec.yaml", "-n"),
        ),
    )
    numbers = (0, -1, 2**31 - 1, 2**63, 10**40, 1e308, float("nan"), 0.1, True, "auto", "1" * 400, [1, [2, [3]]], {})
    while True:
        spec = changed()
        for _ in range(generator.choice((1, 1, 2, 4))):
            section, _, key = generator.choice(_PLACES).rpartition(".")
            node = spec
            for name in filter(None, section.split(".")):
                node = node.get(name) if isinstance(node.get(name), dict) else node.setdefault(f"{name}_", {})
            node[key] = generator.choice((*numbers, *_TIMES, *_TIMES, *_PATTERNS))
        if generator.random() < 0.4:
            spec["sweep"] = {
                "grid": {"job.nodes": [1, 2, generator.choice(numbers)]},
                generator.choice(("exclude", "filter")): [generator.choice(_EXPRESSIONS)],
                "derive": {generator.choice(_PLACES): f"${{{generator.choice(_EXPRESSIONS)}}}"},
            }
        if generator.random() < 0.3:
            spec["input_files"] = {
                f"f{i}": {"source": generator.choice(_PATTERNS)} for i in range(generator.choice((1, 90)))
            }
        pattern = "".join(c for c in generator.choice(_PATTERNS) if c not in '"\\')
        toml = f'select = ["{pattern}"]\n[[ignore]]\nrule = "SBA001"\npath = "{pattern}"\nreason = "x"\n'
        files = {"spec.yaml": _encoded(yaml_of(spec).decode("utf-8", "replace"), generator), "a.run": _SCRIPT.encode()}
        if generator.random() < 0.3:
            files["nmlgen.toml"] = _encoded(toml, generator)
        yield Case(
            files, (("build", "spec.yaml", "-o", "made"), generator.choice(shows)), lambda ends: ends[0].code == 0
        )


# --- Directories


def mazes_of_directories(generator: random.Random) -> Iterator[Case]:
    """Links in rings, to each other's parents and out of the directory; thousands of files; names that are no words."""
    names = (
        "a",
        "b",
        "c",
        "NAMELIST_x",
        "exp.run",
        "-x",
        "\u202ea",
        "a b",
        "a\nb",
        "::error::a",
        "*",
        "~",
        "a" * 250,
        ".git",
    )
    targets = (
        ".",
        "..",
        "/",
        "a",
        "b",
        "c/a",
        "../..",
        "/dev/zero",
        "/proc/self",
        "/proc/kmsg",
        "/dev/stdin",
        "",
        "x" * 300,
    )
    calls = (
        *(
            ("lint", "."),
            ("lint", ".", "--format", "github"),
            ("import", ".", "-o", "x.yaml"),
            ("verify", ".", "--ntasks", "4"),
        ),
        *(
            ("logs", "."),
            ("report", "."),
            ("status", "."),
            ("compare", ".", "a"),
            ("join", "."),
            ("export", ".", "--for", "jube"),
        ),
        *(
            ("convert", "a", "--to", "pbs"),
            ("diff", "a", "b"),
            ("calibrate", ".", "-o", "c.yaml"),
            ("lint", "a/b/c", "a"),
        ),
        *(
            ("lint", ".", "--fix"),
            ("migrate", "."),
            ("ranks", "."),
            ("clean", "--cache-dir", "a"),
            ("build", "a", "-o", "b"),
        ),
    )
    while True:
        links = {generator.choice(names): generator.choice(targets) or "a" for _ in range(generator.choice((0, 2, 6)))}
        files = {}
        for number in range(generator.choice((1, 3, 30, 30, 300))):
            name = (
                generator.choice(names)
                if number < 6
                else generator.choice(("exp.{}", "NAMELIST_{}", "LOG.{}", "d{0}/a")).format(number)
            )
            home = generator.choice(("", "", "d/", "d/e/f/g/h/i/"))
            if name not in links and not any(one.startswith(f"{home}{name}/") for one in files):
                files[home + name] = generator.choice(
                    (b"", _SCRIPT.encode(), _MASTER.encode(), b"&run_nml\n/\n", b"\0", b"#!/bin/bash\n. ./a\n")
                )
        parents = {one.rpartition("/")[0] for one in files}
        files = {one: data for one, data in files.items() if one not in parents}
        links = {one: to for one, to in links.items() if one not in files and one not in parents}
        yield Case(files, tuple(generator.sample(calls, 2)), _told, links=links)
