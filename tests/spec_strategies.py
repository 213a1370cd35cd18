"""Specs of every kind, for property tests: any site with Slurm or without a batch system, any section, values of every
type."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from nmlgen.namelist.registry import Variable, load_registry
from nmlgen.resources import directory
from nmlgen.spec.validate import accepts

RELEASE = "2024.10"
REGISTRY = load_registry(RELEASE)
SITES = sorted(
    path.stem
    for path in (directory("presets") / "sites").glob("*.yaml")
    if not re.search(r"scheduler: (pbs|nqsv)\n", path.read_text(encoding="utf-8"))
)
OWN_GROUPS = ("output_nml", "master_model_nml", "jsb_model_nml", "master_time_control_nml", "master_nml", "grid_nml")

words = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,12}", fullmatch=True)
lines = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_characters="\x7f"), min_size=1, max_size=20
)
"""Text on one line, with quotes, backslashes, dollars and what else there is."""

options = lines.map("-{}".format)
"""Options of a launcher; of a word that is none, such as `true`, it would make the program that it starts."""

nasty = st.sampled_from(
    ["it's", 'a "b"', "c:\\d", " leading", "${HOME}", "#no comment", "", "null", "2024.10", "x, y", "- z"]
)
paths = st.sampled_from(["icon.nc", "grids/iconR02B05-grid.nc", "/pool/data/my grid.nc", "../iconR2B4.nc", "/a'b/c.nc"])
durations = st.sampled_from(["PT2M", "PT12M", "PT1H", "PT12H", "P1D", "P10D", "P1M", "PT1.5S", "P1DT12H"])
instants = st.sampled_from(["2008-09-01T00:00:00Z", "2000-01-01T00:00:00Z", "2008-09-11T12:00:00Z", "2009-01-01"])
sizes = st.sampled_from(["64K", "1M", "4M", "4MiB", "1GiB", "2g"])
reals = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.sampled_from([1.0e-3, 1e30, -999.99, 0.1])


def some(**optional: Any) -> Any:
    """A mapping with any of these keys."""
    return st.fixed_dictionaries({}, optional=optional)


def values_of(variable: Variable) -> Any:
    """What a variable can hold, a scalar or an array."""
    limit = 2**31 - 1
    length = variable.length if variable.length is not None else 20
    scalar: Any = {
        "integer": st.integers(-limit, limit),
        "real": reals if variable.bytes != 4 else st.floats(-1e6, 1e6, width=32),
        "logical": st.booleans(),
        "character": (words | lines | nasty).filter(lambda text: len(text.encode()) <= length),
    }[variable.type]
    if variable.shape and len(variable.shape) == 1:
        return scalar | st.lists(scalar, min_size=1, max_size=min(3, _extent(variable)))
    return scalar


def _extent(variable: Variable) -> int:
    assert variable.shape is not None
    extent = variable.shape[0]
    return extent if isinstance(extent, int) else extent[1] - extent[0] + 1


def _usable(variable: Variable | None) -> bool:
    if variable is None or variable.type not in ("integer", "real", "logical", "character"):
        return False
    return variable.shape is not None and len(variable.shape) <= 1 and "%" not in variable.name


VARIABLES = {
    group: [found for name in REGISTRY.variables(group) if _usable(found := REGISTRY.variable(group, name))]
    for group in REGISTRY.groups
    if group not in OWN_GROUPS and set(REGISTRY.files(group)) <= {"model", "master"}
}
STREAM_VARIABLES = [
    found
    for name in REGISTRY.variables("output_nml")
    if _usable(found := REGISTRY.variable("output_nml", name)) and name not in ("output_interval", "file_interval")
    if name not in ("output_start", "output_end", "output_filename")
]


@st.composite
def variables(draw: Any, known: list[Variable]) -> dict[str, Any]:
    """Some variables of a group with values that fit."""
    chosen = draw(st.lists(st.sampled_from(known), max_size=4, unique_by=lambda variable: variable.name))
    return {variable.name: draw(values_of(variable)) for variable in chosen}


@st.composite
def namelists(draw: Any) -> dict[str, Any]:
    """Groups of any kind, also one that no release knows, and components of derived types."""
    groups = draw(
        st.lists(st.sampled_from([name for name, known in VARIABLES.items() if known]), max_size=4, unique=True)
    )
    found = {group: draw(variables(VARIABLES[group])) for group in groups}
    extra = draw(
        some(
            unheard_nml=st.just({"what": 1}),
            nwp_phy_nml=st.just({"echotop_meta(1)%dbzthresh": [18.0, 25.0], "echotop_meta(2)%time_interval": 3600.0}),
            master_nml=some(lrestart=st.booleans(), read_restart_namelists=st.booleans()),
            master_model_nml=some(model_name=words, model_namelist_filename=st.just("NAMELIST_other")),
            jsb_model_nml=some(model_id=st.just(1), model_name=words),
            grid_nml=some(dynamics_grid_filename=paths, lfeedback=st.booleans()),
        )
    )
    return {group: values for group, values in {**found, **extra}.items() if values}


@st.composite
def streams(draw: Any) -> dict[str, Any]:
    """Named output streams."""
    found = {}
    for label in draw(st.lists(st.from_regex(r"[A-Za-z0-9_]{1,10}", fullmatch=True), max_size=3, unique=True)):
        given = draw(
            some(
                output_interval=durations,
                file_interval=durations,
                output_filename=st.sampled_from(["out/a", "a", "my out/b b", "<x>"]),
                output_start=instants | st.none(),
                output_end=instants | st.none(),
                output_bounds=st.just([0.0, 86400.0, 3600.0]),
                ml_varlist=st.lists(words | st.just("group:precip_vars"), min_size=1, max_size=30),
            )
        )
        found[label] = {**draw(variables(STREAM_VARIABLES)), **given}
    return found


@st.composite
def jobs(draw: Any) -> dict[str, Any]:
    """Options of sbatch."""
    text = lines | words
    return draw(
        some(
            account=text,
            partition=words | st.none(),
            qos=text,
            chdir=st.sampled_from(["/scratch/run", "logs"]),
            job_name=words,
            nodes=st.integers(1, 4000),
            ntasks=st.integers(1, 4000),
            ntasks_per_node=st.integers(1, 128) | st.none(),
            cpus_per_task=st.integers(1, 8),
            time=st.sampled_from(["00:40:00", "8:00", "1-12", "1-00:00:00"]),
            mem=sizes,
            constraint=st.sampled_from(["LSDF", "A&B", "BEEOND"]),
            exclusive=st.booleans(),
            requeue=st.booleans() | st.none(),
            hint=st.sampled_from(["nomultithread", "multithread"]),
            comment=text,
            output=text,
            signal=st.just("B:USR1@300"),
        )
    )


stripes = some(
    stripe_count=st.integers(-1, 32),
    stripe_size=sizes,
    stripe_index=st.integers(-1, 9),
    pool=st.just("flash"),
    migrate=st.booleans(),
).filter(lambda keys: keys != {"migrate": True})
components = some(stripe_count=st.integers(-1, 32), stripe_size=sizes, pool=st.just("flash"), ost=st.just("0,2-4"))
layouts = (
    stripes
    | st.fixed_dictionaries(
        {"component_end": st.fixed_dictionaries({"eof": components}, optional={"64M": components, "1G": components})},
        optional={"migrate": st.booleans()},
    )
    | st.just({"delete": True})
)
mpis = some(
    implementation=st.sampled_from(["openmpi", "intel", "mpich", "cray-mpich", "parastation"]),
    version=st.sampled_from(["2018.5", "2021.5", "2021.12", "4.1.2", "5.0"]) | st.none(),
    hints=st.dictionaries(
        st.from_regex(r"[a-z_]{1,9}", fullmatch=True), st.integers(0, 9) | st.just("enable"), max_size=2
    ),
)
darshans = st.booleans() | some(
    library=st.just("/opt/darshan 3/lib/libdarshan.so"),
    DARSHAN_MODMEM=st.integers(1, 64),
    DARSHAN_MOD_ENABLE=st.just("DXT_POSIX,DXT_MPIIO"),
    DARSHAN_EXCLUDE_DIRS=lines,
    DARSHAN_LOGHINTS=st.just(""),
    MAX_RECORDS=st.integers(1, 9999),
)
environments = st.dictionaries(
    st.from_regex(r"[A-Z_][A-Z0-9_]{0,9}", fullmatch=True).filter(lambda name: accepts({name: "1"}, "environment"))
    | st.sampled_from(["OMP_STACKSIZE", "OMPI_MCA_io", "OMP_PLACES"]),
    lines | nasty | st.none(),
    max_size=4,
)
_methods = st.sampled_from(["link", "copy"])
input_files = st.builds(
    lambda files, patterns: files | patterns,
    st.dictionaries(
        st.sampled_from(["rrtmg_lw.nc", "ozone table.nc", "a'b", "aerosol/bc clm.nc", "-d/e f/ecckd.nc"]),
        st.fixed_dictionaries({"source": paths}, optional={"method": _methods}),
        max_size=2,
    ),
    st.dictionaries(
        st.sampled_from(["rad_*.nc", "lbc/if[fg]?'s *", "-d/*"]),
        st.fixed_dictionaries({"directory": paths}, optional={"method": _methods, "subdirectories": st.booleans()}),
        max_size=2,
    ),
)
node_locals = st.fixed_dictionaries(
    {"file_system": st.just("beeond")},
    optional={
        "directory": st.just("stripe_16"),
        "constraint": st.sampled_from(["BEEOND", "BEEOND_MAXMDS"]),
        "copy_while_running": st.booleans(),
        "before_stage_out": st.lists(
            (lines | nasty).filter(lambda text: text and "\0" not in text), min_size=1, max_size=2
        ),
    },
)
restarts = some(
    restart_write_mode=st.sampled_from(["sync", "async", "joint procs multifile", "dedicated procs multifile"]),
    num_restart_procs=st.integers(0, 8),
    nrestart_streams=st.integers(1, 4),
    restart_chunk_size=st.integers(1, 90),
    checkpointTimeIntval=durations,
    restartTimeIntval=durations,
    lrestart_write_last=st.booleans(),
    checkpoint_on_demand=st.booleans(),
    restart_filename=lines,
)


@st.composite
def specs(draw: Any) -> dict[str, Any]:
    """A spec that loads."""
    site = draw(st.sampled_from(SITES))
    time = {"start": draw(instants), "stop": draw(instants), "modelTimeStep": draw(durations)}
    sections = draw(
        some(
            job=jobs(),
            parallel=variables([v for v in VARIABLES["parallel_nml"] if "restart" not in v.name]),
            restart=restarts,
            output=streams(),
            lustre=some(output=layouts, restart=stripes, input=layouts),
            mpi=mpis,
            darshan=darshans,
            environment=environments,
            modules=st.lists(lines | words, max_size=3) | st.none(),
            launch=some(command=st.sampled_from(["srun", "mpirun", "mpiexec"]), options=st.lists(options, max_size=3)),
            shell=st.sampled_from([{"limits": {"stack": "unlimited"}}, {"limits": {"stack": 1024}}, None]),
            input_files=input_files,
            run_directory=st.sampled_from(["run", "/scratch/usr/run", "my run", "/work/$USER"]),
            **({"node_local": node_locals} if site == "horeka" else {}),
        )
    )
    if site in ("ecmwf", "emmy", "juwels", "lise") and (sections.get("mpi") or {}).get("version") is not None:
        sections.setdefault("modules", ["impi"])  # a site that has modules has them of its versions only
        sections["modules"] = sections["modules"] or ["impi"]
    return {
        "nmlgen": 1,
        "name": draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,9}", fullmatch=True)),
        "site": site,
        "model": {
            "release": RELEASE,
            "executable": draw(paths),
            **draw(some(directory=st.sampled_from([".", "/work/bb1234/icon"]))),
        },
        "grid": {"file": draw(paths), **draw(some(name=st.just("R2B5"), num_lev=st.integers(1, 90)))},
        "time": {**time, **draw(some(calendar=st.sampled_from(["365 day year", "proleptic gregorian"])))},
        **sections,
        "namelists": {g: v for g, v in draw(namelists()).items() if g not in ("parallel_nml", "io_nml", "run_nml")},
    }
