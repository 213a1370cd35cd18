"""Scripts of Slurm and PBS, templates, and the files of ICON, PALM, WRF and MPAS, woven of what nmlgen looks for: words
that its source names, texts of chains of words, regions in brackets, characters that look alike."""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from fuzzing.cases import Case, yaml_of
from fuzzing.limited import Ended
from fuzzing.specs import read, seeds
from fuzzing.texts import experiments, scripts_of_others

ROOT = Path(__file__).parents[2]

# --- Changes of a text


@cache
def named_in_source() -> tuple[str, ...]:
    """Every text that the program holds something against, or prints."""
    found: set[str] = set()
    for path in sorted((ROOT / "nmlgen").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) <= 60:
                found.add(node.value)
    return tuple(sorted(found))


_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|\s+|.", re.DOTALL)


@cache
def _chain(text: str) -> Mapping[tuple[str, str], Sequence[str]]:
    """What follows two tokens in a text."""
    tokens = _TOKEN.findall(text[:60_000])
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one, two, three in zip(tokens, tokens[1:], tokens[2:], strict=False):
        found[one, two].append(three)
    return found


def _chained(text: str, others: Sequence[str], pick: random.Random) -> str:
    """A stretch goes on as another text would."""
    chain = _chain(pick.choice(others))
    if not chain:
        return text
    one, two = pick.choice(sorted(chain))
    made = [one, two]
    for _ in range(pick.choice((5, 20, 100, 600))):
        following = chain.get((one, two))
        if not following:
            break
        one, two = two, pick.choice(following)
        made.append(two)
    place = pick.randrange(len(text) + 1)
    return text[:place] + "".join(made) + text[place + pick.choice((0, 0, 20, 200)) :]


def _named(text: str, others: Sequence[str], pick: random.Random) -> str:
    """A word of the program's source in the place of a word."""
    places = [match.span() for match in re.finditer(r"[\w.%#&<-]+", text)] or [(0, 0)]
    first, last = pick.choice(places)
    word = pick.choice(named_in_source())
    return text[:first] + pick.choice((word, f" {word} ", f"\n{word}\n", text[first:last] + word)) + text[last:]


_LIKE = {
    **dict(zip("0123456789", "٠١٢٣٤٥٦٧٨٩", strict=True)),
    **{
        "-": "−",
        "'": "’",
        '"': "“",
        " ": "\u00a0",
        "=": "＝",
        ",": "，",
        "/": "∕",
        "&": "＆",
        "#": "＃",
        ":": "：",
        ".": "．",
    },
    **{"\n": "\u2028", "_": "‿", "a": "а", "e": "е", "i": "ı", "K": "\u212a", "s": "ſ", "2": "²", "1": "①", "(": "（"},
}


def _alike(text: str, others: Sequence[str], pick: random.Random) -> str:
    """Characters become others that look the same, and that Python takes for the same at times."""
    places = [number for number, character in enumerate(text) if character in _LIKE]
    if not places:
        return text
    done = list(text)
    for place in pick.sample(places, min(len(places), pick.choice((1, 1, 3, 30)))):
        done[place] = _LIKE[done[place]]
    return "".join(done)


_PAIRS = {"(": ")", "{": "}", "[": "]", "'": "'", '"': '"', "`": "`", "&": "/", "<": ">", "%": "%"}


def _region(text: str, pick: random.Random) -> tuple[int, int]:
    """From an opening mark to what closes it."""
    opens = [match.start() for match in re.finditer(r"[({\['\"`&<%]", text)]
    if not opens:
        return 0, 0
    first = pick.choice(opens)
    end = text.find(_PAIRS[text[first]], first + 1)
    return first, len(text) if end < 0 else end + 1


def _regions(text: str, others: Sequence[str], pick: random.Random) -> str:
    """What stands in brackets goes, comes twice, stands in itself, or is another's."""
    first, last = _region(text, pick)
    part = text[first:last]
    turn = pick.randrange(5)
    if turn == 0:
        part = ""
    elif turn == 1:
        part *= pick.choice((2, 3, 200))
    elif turn == 2:
        for _ in range(pick.choice((1, 3, 70))):
            part = part[:1] + part[: 5_000 // (1 + len(part))] + part[1:] if len(part) < 100_000 else part
    else:
        other = pick.choice(others)
        begin, end = _region(other, pick)
        part = other[begin:end] if turn == 3 else part[:1] + other[begin:end] + part[1:]
    return text[:first] + part + text[last:]


def _interleaved(text: str, others: Sequence[str], pick: random.Random) -> str:
    """Lines of two texts in turn, or the lines of one in another order."""
    lines = text.splitlines(keepends=True)
    turn = pick.randrange(4)
    if turn == 0:
        return "".join(sorted(lines))
    if turn == 1:
        return "".join(reversed(lines))
    if turn == 2:
        pick.shuffle(lines)
        return "".join(lines)
    mine, other = iter(lines), iter(pick.choice(others).splitlines(keepends=True))
    return "".join(next(pick.choice((mine, other)), "\n") for _ in range(min(2 * len(lines), 4000)))


def _case(text: str, others: Sequence[str], pick: random.Random) -> str:
    first = pick.randrange(len(text) + 1)
    last = first + pick.choice((1, 10, 1000))
    return (
        text[:first] + pick.choice((str.swapcase, str.title, str.casefold, str.strip))(text[first:last]) + text[last:]
    )


_CHANGES: tuple[Callable[[str, Sequence[str], random.Random], str], ...] = (
    *(_named, _named, _named, _chained, _chained, _alike, _alike, _regions, _regions, _interleaved, _case),
)


def _value(text: str, others: Sequence[str], pick: random.Random) -> str:
    """What stands behind a colon becomes a word of the program's source, another's value, or looks alike."""
    places = [match.span(1) for match in re.finditer(r":[ \t]+([^\n{\[]+?),?$", text, re.MULTILINE)]
    if not places:
        return text
    first, last = pick.choice(places)
    value = text[first:last]
    turn = pick.randrange(12)
    if turn == 0:
        value = pick.choice(named_in_source()).replace("\n", " ")
    elif turn == 1:
        value = _alike(value, others, pick)
    elif turn == 2:
        value = pick.choice(_YAML)
    else:  # one of its kind
        kin = [text[begin:end] for begin, end in places if text[begin].isdigit() == value[0].isdigit()]
        value = pick.choice((re.sub("[0-9]+", lambda match: str(int(match[0][:9]) * 2), value), *kin[:8]))
    return text[:first] + value + text[last:]


_YAML = (
    *("nan", ".nan", ".inf", "-.Inf", "yes", "No", "on", "OFF", "~", "null", "1_000", "0o17", "0x1F", "1e3", "1:30:00"),
    *("12:30", "2000-01-01", "2000-01-01T00:00:00Z", "!!int '7'", "!!binary aGk=", "&a 1", "*a", "[]", "{}", "''"),
    *(
        "9" * 300,
        "-0",
        "+1",
        "1.",
        ".5",
        "1e400",
        "-1",
        "=",
        "<<",
        "!x 1",
        "| \n a",
        "[[[[]]]]",
        '"\\x00"',
        '"\\ud800"',
    ),
)


def woven(
    text: str,
    others: Sequence[str],
    pick: random.Random,
    changes: Sequence[Callable[[str, Sequence[str], random.Random], str]] = _CHANGES,
) -> str:
    """One to eight changes."""
    for _ in range(pick.choice((1, 1, 2, 4, 8))):
        text = pick.choice(changes)(text, others, pick)[:400_000]
    return text


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _read(ends: list[Ended]) -> bool:
    return ends[0].code in (0, 1)


# --- Scripts of batch systems, and templates

PBS = """\
#!/bin/bash
#PBS -N amip
#PBS -l select=2:ncpus=128:mpiprocs=64:ompthreads=2:mem=200gb+1:ncpus=4 \\
 -j oe
#PBS -l walltime=08:00:00,place=scatter:excl
#PBS -q main@server
#PBS -A bm0001
#PBS -W depend=afterok:123.server,group_list=x -V -v A=1,B='a,b'
#PBS -J 0-9:2%3
#PBS -o out.log -e /home/a/err.log -k oed -r n -m abe -M a@b.de -a 202501010000.00 -p 10 -S /bin/bash
cd $PBS_O_WORKDIR
export OMP_NUM_THREADS=$NCPUS
mpirun -np $(wc -l <$PBS_NODEFILE) ./icon
#PBS -q late
qsub next.sh; qstat -u $USER; qdel $PBS_JOBID
"""
SLURM = """\
#!/bin/bash
#SBATCH --job-name=amip -N 2-4 --ntasks-per-node=128 -c 2 --mem=0 --time=1-02:30:00
#SBATCH --account=bm0001 --partition=compute,shared --qos=high --exclusive --array=0-9:2%3
#SBATCH -o %x.%A_%a.out -e "a b.err" --mail-type=END,FAIL,TIME_LIMIT_80 --mail-user=a@b.de --begin=now+1hour
#SBATCH --dependency=afterok:123:124,singleton --gpus-per-node=a100:4 --hint=nomultithread --constraint='[a|b]*2'
#SBATCH --export=ALL,A=1 --signal=B:USR1@120 --chdir=/work --requeue
set -eu
read -a words <<< "a b c"; mapfile -t lines < file; readarray -t more <<< $'a\\nb'
while read -r -a row; do echo ${row[1]}; done << EOF
1 2 3
EOF
nodes=($(scontrol show hostnames $SLURM_JOB_NODELIST))
for ((i = 0; i < ${#words[@]}; i++)); do echo "${words[$i]}" >> list; done
srun -n $SLURM_NTASKS --multi-prog multi.conf : -n 4 ./icon
sbatch --dependency=afterok:$SLURM_JOB_ID next.sh
"""
ECFLOW = """\
#!/bin/ksh
%manual
 it's for people
%end
%include <head.h>
%includeonce "own.h"
%nopp
echo 100%
%end
member=%MEMBER:0% step=%STEP%
cat > NAMELIST_atm << EOF
&run_nml
 num_lev = %LEVELS%, dtime = ${dtime}
/
EOF
%ecfmicro ^
srun ./icon ^ECF_NAME:x^
%comment
 a
%end
"""
JINJA = """\
#!/bin/bash
#SBATCH --nodes={{ nodes|default(2) }} --time={{ wallclock }}
{% if restart %}
lrestart=.true.
{% else %}
lrestart={{ "'a'" if x else '.false.' }}
{% endif %}
{# a comment with it's quote #}
%{nproma|d(16)} @START_DATE@ {exp.name} %{a|{b}}
cat > NAMELIST_atm << EOF
&parallel_nml
 nproma = %{nproma|d(16)}, num_io_procs = {{ io }}
/
EOF
#% for s in streams:
srun ./icon
"""
MKEXP = """\
EXP_TYPE = amip-R2B4
LEVELS = 47
WITH_OCEAN = eval('$EXP_TYPE'.startswith('esm'))
[namelists]
  [[icon_master.namelist]]
    [[[master_model_nml atmo]]]
      model_name = atm
  [[NAMELIST_atm, NAMELIST_oce]]
    .remove = io_nml
    [[[run_nml]]]
      num_lev = $LEVELS
      dtime = raw(450.)
      output = "nml", 'totint'
      modeltimestep = add_minutes('PT0S', 10)
      damp_height = 3*0.5
"""


@cache
def _scripts() -> tuple[str, ...]:
    return (*(PBS, SLURM, ECFLOW, JINJA) * 12, *(text for text in scripts_of_others() if len(text) < 60_000))


def woven_scripts(generator: random.Random) -> Iterator[Case]:
    """Scripts that are linted and converted both ways, the second time what was converted."""
    base = _scripts()
    while True:
        text = woven(generator.choice(base), base, generator)
        if generator.random() < 0.4:
            to, back = generator.choice((("pbs", "slurm"), ("slurm", "pbs")))
            calls = (("convert", "exp.run", "--to", to, "-o", "there.run"), ("lint", "exp.run", "there.run"))
            calls += (("convert", "there.run", "--to", back), ("convert", "exp.run", "--to", back))
        else:
            show = generator.choice(
                (
                    *(("import", "exp.run", "-o", "made.yaml"), ("ranks", "exp.run"), ("volume", "exp.run")),
                    *(("lint", "exp.run", "--fix", "--unsafe-fixes"), ("lint", ".", "--format", "json")),
                    *(("migrate", "exp.run", "--to", "2025.10", "--fix"), ("diff", "exp.run", "seed.run")),
                    ("import", "exp.run", "--from-log", "exp.run", "-o", "made.yaml"),
                )
            )
            calls = (("lint", "exp.run"), show)
        yield Case({"exp.run": _raw(text), "seed.run": SLURM.encode()}, calls, _read)


# --- Files of models

_WRF = """\
&time_control
 run_hours = 12, start_year = 2000, 2000, start_month = 1, 1, start_day = 24, 24, end_day = 25, 25,
 interval_seconds = 21600, history_interval = 60, 60, frames_per_outfile = 1000, 1, io_form_history = 2,
 restart = .false., restart_interval = 1440, auxhist2_interval = 10, 0, history_outname = 'wrfout_d<domain>_<date>',
/
&domains
 time_step = 60, max_dom = 2, e_we = 100, 112, e_sn = 100, 97, e_vert = 45, 45, dx = 15000., dy = 15000.,
 parent_id = 1, 1, i_parent_start = 1, 31, parent_grid_ratio = 1, 3, nproc_x = -1, numtiles = 1,
 max_ts_locs = 5, eta_levels = 1.0, 0.9, 0.5, 0.0,
/
&physics
 mp_physics = 8, 8, ra_lw_physics = 4, 4, radt = 15, 15, sf_surface_physics = 2, 2, bl_pbl_physics = 1, 1,
/
&namelist_quilt
 nio_tasks_per_group = 2, nio_groups = 1,
/
"""
_PALM = """\
&initialization_parameters
    nx = 39, ny = 39, nz = 40, dx = 50.0, dy = 50.0, dz = 50.0, 100.0, dz_stretch_level = 1225.0,
    npex = 2, npey = 4, initializing_actions = 'set_constant_profiles', bc_pt_b = 'neumann',
    topography = 'single_building', ensemble_member_nr = 0,
/
&runtime_parameters
    end_time = 3600.0, dt_data_output = 900.0, data_output = 'w_xy', 'theta_xz_av', 'u*_xy*',
    data_output_pr = 'wtheta', '#theta', 'w"u"', section_xy = 2, averaging_interval = 300.0,
    restart_data_format = 'mpi', data_output_2d_on_each_pe = .F., netcdf_data_format = 5,
    npe_per_node = 8, restart_time = 1800., dt_restart = 1800.,
/
&land_surface_parameters
/
&nesting_parameters
 domain_layouts = 'a', 1, -1, 4, 0., 0., 'b', 2, 1, 4, 100., 100.,
/
"""
_ENVPAR = "&envpar\n run_identifier = 'x', write_binary = .true., maximum_parallel_io_streams = 4\n/\n"
_MPAS = """\
&nhyd_model
    config_dt = 60.0, config_start_time = '2010-10-23_00:00:00', config_run_duration = '5_00:00:00'
/
&io
    config_pio_num_iotasks = 2, config_pio_stride = 4
/
&decomposition
    config_block_decomp_file_prefix = 'x1.40962.graph.info.part.'
/
&restart
    config_do_restart = false
/
&physics
    config_physics_suite = 'none', config_microp_scheme = 'mp_kessler'
/
"""
_STREAMS = """\
<?xml version="1.0"?>
<!-- ours -->
<streams>
<immutable_stream name="input" type="input" filename_template="init.nc" input_interval="initial_only"/>
<immutable_stream name="restart" type="input;output" filename_template="r.$Y-$M-$D_$h.$m.$s.nc"
        output_interval="1_00:00:00"/>
<stream name="output" type="output" filename_template="history.$Y-$M-$D.nc" output_interval="06:00:00"
        filename_interval="1_00:00:00" io_type="pnetcdf,cdf5" clobber_mode="replace_files" packages="a;b">
  <var name="theta" packages="a"/> <var_struct name="b"/> <var_array name="c"/> <stream name="input"/> <file name="f"/>
</stream>
</streams>
"""
MODELS = (
    {"namelist.input": _WRF},
    {"PARIN": _PALM, "ENVPAR": _ENVPAR},
    {"x_p3d": _PALM, "x_p3dr": _PALM, "x_static": "CDF\x01"},
    {"namelist.atmosphere": _MPAS, "streams.atmosphere": _STREAMS, "stream_list.atmosphere.output": "theta\nrho\n"},
)


def woven_models(generator: random.Random) -> Iterator[Case]:
    """The files of a model with words and groups of all others."""
    icon = [text for texts in experiments() for text in texts.values() if len(text) < 60_000]
    others = [*(text for texts in MODELS for text in texts.values()), *icon]
    while True:
        kept = generator.choice((*MODELS, *MODELS, generator.choice(experiments())))
        files = {f"before/{name}": _raw(text) for name, text in kept.items()}
        chosen = [name for name in kept if generator.random() < 0.6] or list(kept)[:1]
        made = {name: woven(text, others, generator) if name in chosen else text for name, text in kept.items()}
        files |= {f"run/{name}": _raw(text) for name, text in made.items()}
        path = generator.choice(("run", f"run/{generator.choice(sorted(kept))}"))
        show = generator.choice(
            (
                *(("lint", path, "--ntasks", "8", "--fix", "--unsafe-fixes"), ("diff", "before", path)),
                *(("import", path, "-o", "made.yaml", "--ntasks", "64"), ("ranks", path, "--ntasks", "8")),
                *(("volume", path, "--ntasks", "8"), ("verify", "run"), ("lint", ".", "--format", "sarif")),
                ("migrate", path, "--icon-release", "2024.10", "--to", "2025.10"),
            )
        )
        yield Case(files, (("lint", path, "--ntasks", generator.choice(("8", "1", "64"))), show), _read)


# --- Documents


@cache
def _documents() -> Mapping[str, tuple[str, ...]]:
    found = {
        "spec": tuple(yaml_of(seed).decode() for seed in seeds()),
        "site": tuple(path.read_text(encoding="utf-8") for path in sorted((ROOT / "presets/sites").glob("*.yaml"))),
        "preset": tuple(path.read_text(encoding="utf-8") for path in sorted((ROOT / "presets/icon").glob("*.yaml"))),
        "mkexp": (MKEXP,),
    }
    return found


def woven_documents(generator: random.Random) -> Iterator[Case]:
    """Specs, sites, presets and configurations of mkexp whose text is changed, whatever YAML makes of it."""
    documents = _documents()
    every = [text for texts in documents.values() for text in texts]
    calibration = (ROOT / "presets/calibrations/levante.yaml").read_text(encoding="utf-8")
    spec = read(ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml")
    while True:
        kind = generator.choice(("spec", "spec", "site", "preset", "mkexp", "calibration"))
        seed = calibration if kind == "calibration" else generator.choice(documents[kind])
        changes = (_value,) if generator.random() < 0.75 else _CHANGES
        text = _raw(woven(seed, every, generator, changes))
        show = generator.choice(
            (
                *(("check", "spec.yaml", "--format", "json"), ("ranks", "spec.yaml"), ("volume", "spec.yaml")),
                *(("advise", "spec.yaml"), ("why", "spec.yaml", "job"), ("migrate", "spec.yaml", "--to", "2025.10")),
                *(("sweep", "spec.yaml", "--dry-run"), ("diff", "spec.yaml", "seed.yaml")),
            )
        )
        files = {"seed.yaml": yaml_of(spec)}
        calls: tuple[tuple[str, ...], ...] = (("build", "spec.yaml", "-o", "made"), show)
        if kind == "mkexp":
            files["exp.config"] = text
            calls = (("lint", "exp.config"), ("import", "exp.config", "-o", "made.yaml"))
        elif kind == "spec":
            files["spec.yaml"] = text
        else:
            files["other.yaml"] = text
            name = {"site": "site", "preset": "extends", "calibration": "site"}[kind]
            files["spec.yaml"] = yaml_of({**spec, name: "./other.yaml"})
            if kind == "calibration":
                site = read(ROOT / "presets/sites/levante.yaml")
                site["machine"]["calibration"] = "./other.yaml"
                files |= {"site.yaml": yaml_of(site), "spec.yaml": yaml_of({**spec, "site": "./site.yaml"})}
                calls = (("advise", "spec.yaml"), show)
        yield Case(files, calls, lambda ends: ends[0].code == 0)
