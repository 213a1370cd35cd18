"""A second lint: what it takes from the cache is what it would find."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import nmlgen
from nmlgen import caching, disk
from nmlgen.caching import Cache, default_directory
from nmlgen.cli.application import application
from nmlgen.errors import InputError
from nmlgen.files import Files
from nmlgen.linting import _Linting
from nmlgen.report.json import report_document, to_json

ROOT = Path(__file__).parent.parent
OTHER = "#!/bin/ksh\n#SBATCH --nodes=1\ncat > NAMELIST_y << EOF\n&run_nml\n num_lev = 31.\n/\nEOF\nsrun ./icon\n"
SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --acount=x
. ./settings.sh
cat > NAMELIST_atm << EOF
&parallel_nml
 nproma = $block
 num_io_proc = 1
/
&grid_nml
 dynamics_grid_filename = 'grid.nc'
/
&run_nml
 num_lev = 31.
 output = 'nml'
/
&output_nml
 output_filename = 'out/a'
/
EOF
cat > icon_master.namelist << EOF
&master_nml
 lrestart = .true.
/
&master_model_nml
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
 model_type = 1
/
EOF
srun ./wrapper.sh ./icon
"""


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def run(tmp_path) -> Path:
    """A directory with a script that looks at much beside it."""
    place = tmp_path / "icon" / "run"
    place.mkdir(parents=True)
    (place / "exp.run").write_text(SCRIPT)
    (place / "settings.sh").write_text("block=8\n")
    (place / "wrapper.sh").write_text('#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_RANK\nexec "$1"\n')
    (place / "other.run").write_text(OTHER)
    (place / "NAMELIST_x").write_text("&run_nml\n num_lev = 31.\n dtim = 3 ! nmlgen: ignore[NML002] because\n/\n")
    return place


def told(report: nmlgen.Report) -> str:
    values = [report.values, report.undecided, report.parts, [reason for _, reason in report.suppressed]]
    return to_json(report_document(report)) + repr(values)


def is_kept(monkeypatch: pytest.MonkeyPatch, lint: Callable[[], nmlgen.Report]) -> bool:
    """Whether all of a lint comes from the cache."""
    judged = []
    real = _Linting.report
    with monkeypatch.context() as patch:
        patch.setattr(_Linting, "report", lambda self, target: judged.append(target) or real(self, target))
        lint()
    return not judged


def test_a_second_lint_finds_the_same_without_judging(run, cache, monkeypatch):
    fresh = nmlgen.lint([run])
    assert all((fresh.findings, fresh.suppressed, fresh.undecided, fresh.values, fresh.parts))
    first, second = nmlgen.lint([run], cache=cache), nmlgen.lint([run], cache=cache)
    assert told(fresh) == told(first) == told(second)
    assert is_kept(monkeypatch, lambda: nmlgen.lint([run], cache=cache))
    assert [finding.fix for finding in fresh.findings if finding.fix]
    assert [str(finding.fix) for finding in fresh.findings] == [str(finding.fix) for finding in second.findings]


def append(path: Path, text: str) -> None:
    path.write_text((path.read_text() if path.exists() else "") + text)


CHANGES = {
    "the script": lambda run: append(run / "exp.run", "#SBATCH --nodes=3\n"),
    "a file that it sources": lambda run: append(run / "settings.sh", "block=-1\n"),
    "a file that it sources is gone": lambda run: (run / "settings.sh").unlink(),
    "its wrapper": lambda run: append(run / "wrapper.sh", "export CUDA_VISIBLE_DEVICES=$SLURM_LOCALID\n"),
    "its wrapper is gone": lambda run: (run / "wrapper.sh").unlink(),
    "a log beside it": lambda run: append(run / "LOG.1.o", "  version: 2024.01\n"),
    "the source tree above it": lambda run: append(
        run.parent / "configure", "PACKAGE_NAME='icon'\nPACKAGE_TARNAME='icon'\nPACKAGE_VERSION='2024.01'\n"
    ),
    "a namelist beside it": lambda run: append(run / "NAMELIST_x", "&grid_nml\n/\n"),
    "a coupling.yaml": lambda run: append(run / "coupling.yaml", "definitions: [\n"),
    "a configuration": lambda run: append(run / "nmlgen.toml", 'select = ["NML"]\n'),
    "a configuration above": lambda run: append(run.parent / "nmlgen.toml", 'icon-release = "2024.01"\n'),
    "a profile": lambda run: append(run / "nmlgen.toml", '[profile]\nblock = "3"\n'),
    "a grid": lambda run: (run / "grid.nc").write_bytes(b"CDF"),
    "a directory": lambda run: (run / "out").mkdir(),
    "a link to another script": lambda run: (run / "again.run").symlink_to(run / "exp.run"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_changes_is_seen(change, run, cache):
    for paths in ([run], [run / "NAMELIST_x", run / "exp.run"]):
        nmlgen.lint(paths, cache=cache)
    change(run)
    for paths in ([run], [run / "NAMELIST_x", run / "exp.run"]):
        assert told(nmlgen.lint(paths, cache=cache)) == told(nmlgen.lint(paths))


@pytest.mark.parametrize("name", ["the script", "a file that it sources", "its wrapper is gone", "a configuration"])
def test_these_changes_alter_what_is_found(name, run):
    before = told(nmlgen.lint([run]))
    CHANGES[name](run)
    assert told(nmlgen.lint([run])) != before


def test_what_is_asked_is_told_apart(run, cache, monkeypatch):
    questions = [
        {},
        {"ntasks": 7},
        {"icon_release": "2024.01"},
        {"site": "levante"},
        {"is_fragment": True},
        {"variables": {"block": "3"}},
        {"variables": {"block": "4"}},
        {"is_isolated": True},
    ]
    path = run / "NAMELIST_x"
    for options in questions:
        assert told(nmlgen.lint([path], cache=cache, **options)) == told(nmlgen.lint([path], **options))
    assert len(list((cache.directory / "lint").iterdir())) == len(questions) - 1
    monkeypatch.chdir(run)
    assert told(nmlgen.lint(["NAMELIST_x"], cache=cache)) == told(nmlgen.lint(["NAMELIST_x"]))
    assert nmlgen.lint(["NAMELIST_x"], cache=cache).findings[0].file == "NAMELIST_x"


def test_what_is_selected_need_not_be_judged_anew(run, cache, monkeypatch):
    nmlgen.lint([run], cache=cache)
    assert is_kept(monkeypatch, lambda: nmlgen.lint([run], cache=cache, select=["NML"], ignore=["NML003"]))
    assert told(nmlgen.lint([run], cache=cache, select=["NML"])) == told(nmlgen.lint([run], select=["NML"]))


def test_a_site_and_a_registry_of_ones_own(run, cache, tmp_path):
    site, registry = tmp_path / "site.yaml", tmp_path / "registry.json"
    site.write_text((ROOT / "presets" / "sites" / "levante.yaml").read_text())
    registry.write_text((ROOT / "schemas" / "icon" / "2024.10.json").read_text())
    options = {"site": str(site), "icon_release": str(registry)}
    seen = set()
    for old, new in (("", ""), ("--nodes=2", "--nodes=3"), ('"num_io_procs"', '"num_io_proc"')):
        for path in (run / "exp.run", registry):
            path.write_text(path.read_text().replace(old, new, 1))
        for _ in range(2):
            fresh = told(nmlgen.lint([run / "exp.run"], **options))
            assert told(nmlgen.lint([run / "exp.run"], cache=cache, **options)) == fresh
            seen.add(fresh)
    assert len(seen) > 1
    site.write_text("name: [\n")
    with pytest.raises(InputError):
        nmlgen.lint([run], cache=cache, **options)


def test_an_error_is_raised_each_time(run, cache):
    for _ in range(2):
        with pytest.raises(InputError, match="mars"):
            nmlgen.lint([run], site="mars", cache=cache)


def test_another_nmlgen_finds_its_own(run, cache, monkeypatch):
    nmlgen.lint([run], cache=cache)
    with monkeypatch.context() as patch:
        patch.setattr(caching, "_self", lambda: ["another"])
        assert not is_kept(monkeypatch, lambda: nmlgen.lint([run], cache=cache))
    assert is_kept(monkeypatch, lambda: nmlgen.lint([run], cache=cache))


def test_texts_that_are_given_are_not_kept(run, cache):
    path = run / "exp.run"
    nmlgen.lint([path], cache=cache, files=Files({path.resolve(): "#!/bin/bash\n"}))
    assert not cache.directory.exists()


def rewritten(change: Callable[[list], object]) -> Callable[[Path], None]:
    """Damage of an entry whose sum is right."""

    def damage(path: Path) -> None:
        document = json.loads(path.read_bytes().partition(b"\n")[2])
        change(document)
        body = json.dumps(document, separators=(",", ":")).encode()
        path.write_bytes(disk.digest(body).encode() + b"\n" + body)

    return damage


def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "short": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "a letter": lambda path: path.write_bytes(path.read_bytes().replace(b"NML", b"NMX")),
    "no JSON": lambda path: path.write_bytes(b"\x80\x04]\x94."),
    "deep": lambda path: path.write_bytes(disk.digest(b"[" * 10**5).encode() + b"\n" + b"[" * 10**5),
    "a directory": replaced(Path.mkdir),
    "a pipe": replaced(os.mkfifo),
    "a link": replaced(lambda path: path.symlink_to(path.parent.parent.parent / "passwd")),
    "a link to itself": replaced(lambda path: path.symlink_to(path.name)),
    "of another question": rewritten(lambda document: document[0].append("x")),
    "no looks": rewritten(lambda document: document.__setitem__(1, [["x", 1]])),
    "a look that is none": rewritten(lambda document: document[1].append([["eval", "1"], 1])),
    "a look without a path": rewritten(lambda document: document[1].append([["is_file"], 1])),
    "no sources": rewritten(lambda document: document.__setitem__(2, [])),
    "a file that was not read": rewritten(lambda document: document.__setitem__(2, [["/etc/passwd"]])),
    "no findings": rewritten(lambda document: document.__setitem__(3, [[1]])),
    "a severity": rewritten(lambda document: document[3][0].__setitem__(2, "fatal")),
    "too little": rewritten(lambda document: document.__delitem__(slice(3, None))),
    "an object": rewritten(lambda document: document.__setitem__(3, {"a": 1})),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_entry_is_none(damage, run, cache, monkeypatch):
    path = run / "other.run"
    fresh = told(nmlgen.lint([path], cache=cache))
    (entry,) = (cache.directory / "lint").iterdir()
    damage(entry)
    assert not is_kept(monkeypatch, lambda: nmlgen.lint([path], cache=cache))
    assert told(nmlgen.lint([path], cache=cache)) == fresh


def test_an_entry_of_another_user_is_none(run, cache, monkeypatch):
    nmlgen.lint([run], cache=cache)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    assert not is_kept(monkeypatch, lambda: nmlgen.lint([run], cache=cache))


def test_a_place_that_cannot_be_written_is_no_mistake(run, tmp_path):
    (tmp_path / "file").touch()
    fresh = told(nmlgen.lint([run]))
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nothing"), Path("/dev/null")):
        assert told(nmlgen.lint([run], cache=Cache(place))) == fresh


def test_there_are_not_more_entries_than_a_disk_has_room_for(run, cache, monkeypatch):
    monkeypatch.setattr(caching, "_MOST_ENTRIES", 6)
    for number in range(1, 20):
        nmlgen.lint([run / "NAMELIST_x"], ntasks=number, cache=Cache(cache.directory))
        assert len(list((cache.directory / "lint").iterdir())) <= 6


def test_where_it_lies():
    assert default_directory({"XDG_CACHE_HOME": "/tmp/c"}) == Path("/tmp/c/nmlgen")
    assert default_directory({"XDG_CACHE_HOME": "c"}) == default_directory({}) == Path("~/.cache/nmlgen").expanduser()


# --- The command line ---


def lint(*arguments: object, **surroundings: str | None):
    return CliRunner(env={"NMLGEN_NO_CACHE": None, **surroundings}).invoke(
        application, ["lint", *map(str, arguments)], standalone_mode=False, catch_exceptions=False
    )


def test_options_and_variables(run, tmp_path):
    own, named = tmp_path / "own", tmp_path / "named"
    plain = lint(run, XDG_CACHE_HOME=str(own), NMLGEN_NO_CACHE="1").output
    assert lint(run, "--no-cache", XDG_CACHE_HOME=str(own)).output == plain
    assert not own.exists()
    assert lint(run, XDG_CACHE_HOME=str(own)).output == plain
    assert sorted(path.name for path in (own / "nmlgen").iterdir()) == [".gitignore", "CACHEDIR.TAG", "lint"]
    assert lint(run, NMLGEN_CACHE_DIR=str(named), XDG_CACHE_HOME=str(own)).output == plain
    assert len(list((named / "lint").iterdir())) == 5
    assert lint(run, "--cache-dir", named / "other", NMLGEN_CACHE_DIR=str(named)).output == plain
    assert (named / "other" / "lint").is_dir()


def test_a_project_has_its_own(run, tmp_path):
    own = str(tmp_path / "own")
    (run / "nmlgen.toml").write_text('cache-dir = ".nmlgen_cache"\n')
    plain = lint(run, "--no-cache").output
    assert lint(run, XDG_CACHE_HOME=own).output == lint(run, XDG_CACHE_HOME=own).output == plain
    assert len(list((run / ".nmlgen_cache" / "lint").iterdir())) == 5
    assert not Path(own).exists()
    lint(run, NMLGEN_CACHE_DIR=own)
    assert Path(own, "lint").is_dir()


@pytest.mark.parametrize("path", ['"/tmp/x"', '"../x"', '"."', '"link/x"', "3", '""'])
def test_a_project_writes_nowhere_else(path, run):
    (run / "link").symlink_to(run.parent)
    (run / "nmlgen.toml").write_text(f"cache-dir = {path}\n")
    with pytest.raises(InputError, match=r"nmlgen\.toml:1:1: .*(lies elsewhere|is a path in quotes)"):
        lint(run)


def test_clean(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "place"
    lint(run / "exp.run", NMLGEN_CACHE_DIR=str(place))
    runner = CliRunner(env={"NMLGEN_CACHE_DIR": str(place)})
    assert runner.invoke(application, ["clean"]).output == f"removed 1 result from {place}\n"
    assert not place.exists()
    assert runner.invoke(application, ["clean"]).output == f"removed 0 results from {place}\n"
    place.mkdir()
    (place / "mine").touch()
    lint(run / "exp.run", NMLGEN_CACHE_DIR=str(place))
    assert runner.invoke(application, ["clean", "--quiet"]).output == ""
    assert [path.name for path in place.iterdir()] == ["mine"]


def test_nothing_of_others_is_removed(run, tmp_path, monkeypatch):
    """A directory that somebody names, in a project of somebody else, may hold anything under the same name."""
    room = tmp_path / "place" / "lint"
    room.mkdir(parents=True)
    own = [room / "notes.json", room / "source.py", room / f"{'0' * 32}.txt"]
    for path in own:
        path.write_text("mine")
    monkeypatch.setattr(caching, "_MOST_ENTRIES", 0)
    for number in range(1, 4):
        nmlgen.lint([run / "NAMELIST_x"], ntasks=number, cache=Cache(tmp_path / "place"))
    assert Cache(tmp_path / "place").clean() == 2
    assert sorted(room.iterdir()) == sorted(own)
