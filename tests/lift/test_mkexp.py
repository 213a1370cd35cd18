"""Configurations of mkexp: what is read of them, and where it stands."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import nmlgen
from nmlgen.lift.mkexp import LiftedConfig, lift_config
from nmlgen.namelist.registry import load_registry

CONFIG = """\
# An experiment of our own
EXP_TYPE = amip-R2B4
LEVELS = 47
INTERVAL = PT6H
EMPTY =
WITH_OCEAN = eval('$EXP_TYPE'.startswith('esm'))

[namelists]
  [[icon_master.namelist]]
    [[[master_nml]]]
      lrestart = true
    [[[master_model_nml atmo]]]
      model_name = atm

  [[NAMELIST_atm, NAMELIST_oce]]
    [[[parallel_nml]]]
      nproma = 16 # a comment

  [[NAMELIST_atm]]
    with_carbon = false
    .remove = io_nml
    [[[io_nml]]]
      nothing = 1
    [[[dbg_index_nml]]]
      .hide = true
    [[[run_nml]]]
      num_lev = $LEVELS
      nsteps = ${STEPS}
      dtime = raw(450.)
      ltestcase = F
      output = "nml", 'totint'
      msg_level =
      modeltimestep = add_minutes('PT0S', 10)
      check_uuid_gracefully = eval(1 > 0)
    [[[nonhydrostatic_nml]]]
      damp_height = 3*0.5
      rayleigh_coeff = $EMPTY
    [[[output_nml]]]
      filetype = 5
      output_interval = $INTERVAL
    [[[output_nml atm_2d]]]
      output_filename = run_%{id}
      output_start = $$start_date
      ml_varlist = tas, pr
      m_levels = '1 '
    [[[output_nml atm_3d]]]
      .extends = output_nml atm_2d
      output_interval = '''PT1H'''
  [[coupling.yaml]]
    timestep = PT15M
    [[[atmo]]]
      lag = 1

[jobs]
  nodes = 2
  [[run]]
    nodes = 4
  [[run_start]]
    [[[namelists]]]
      [[[[NAMELIST_atm]]]]
        [[[[[run_nml]]]]]
          num_lev = 90
"""


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "abc0001.config"


def lift(path: Path, text: str) -> LiftedConfig:
    path.write_bytes(text.encode())
    return lift_config(path, load_registry("2024.10"))


def lint(path: Path, text: str, **options) -> list[tuple[str, str]]:
    path.write_bytes(text.encode())
    found = nmlgen.lint([path], icon_release="2024.10", **options).findings
    return [(finding.code, finding.span.text) for finding in found]


def test_the_namelists(path):
    lifted = lift(path, CONFIG)
    assert lifted.problems == ()
    file = next(file for file in lifted.files if file.groups[-1].name == "output_nml")
    names = ["parallel_nml", "run_nml", "nonhydrostatic_nml", "output_nml", "output_nml"]
    assert [group.name for group in file.groups] == names
    assert all(group.is_open for group in file.groups)
    run, _, two, three = file.groups[1:]
    known = {name: setting.value for name, setting in run.settings.items() if setting.certainty.value != "unknown"}
    assert known == {"num_lev": [47], "dtime": 450.0, "ltestcase": False, "output": ["nml", "totint"]}
    assert {"nsteps", "modeltimestep", "check_uuid_gracefully"} <= set(run.settings)
    assert str(run.settings["num_lev"].span) == f"{path}:27:17"
    assert run.settings["num_lev"].span.text == "$LEVELS"
    assert two.settings["output_filename"].value == "run_atm_2d"
    assert two.settings["filetype"].value == 5
    assert two.settings["ml_varlist"].value == ["tas", "pr"]
    assert two.settings["m_levels"].value.strip() == "1"
    assert [stream.settings["output_interval"].value for stream in (two, three)] == [["PT6H"], ["PT1H"]]
    assert three.settings["ml_varlist"].span.line == two.settings["ml_varlist"].span.line


def test_variants_and_the_master(path):
    lifted = lift(path, CONFIG)
    experiments = lifted.experiments
    atmospheres = [experiment for experiment in experiments if experiment.components[0].group("run_nml") is not None]
    assert [experiment.components[0]["run_nml", "num_lev"].value for experiment in atmospheres] == [[47], [90]]
    assert all(experiment.components[0]["master_nml", "lrestart"].value is True for experiment in experiments)
    assert all(experiment.models[0].is_open for experiment in experiments)


def test_what_is_fine_is_clean(path):
    assert lint(path, CONFIG) == []


def test_rules_apply(path):
    text = CONFIG.replace("nproma = 16", "nprma = 16").replace("num_lev = 90", "num_lev = 90.")
    codes = lint(path, text.replace("ltestcase = F", "ltestcase = nml"))
    assert ("NML002", "nprma") in codes
    assert ("NML003", "90.") in codes
    assert ("NML003", "nml") in codes


def test_suppressions(path):
    text = CONFIG.replace("nproma = 16 # a comment", "nprma = 16 # nmlgen: ignore[NML002] our own branch")
    assert lint(path, text) == []


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("[namelists]\n[[run]\n", "[[run]"),
        ("[namelists]\n[[[deep]]]\n", "[[[deep]]]"),
        ("[namelists]\n[[a]]\n[namelists]\n", "namelists"),
        ("[namelists]\n[a[b]\n", "[a[b]"),
        ("no equals sign\n[namelists]\n", "no equals sign"),
        ("x = 'a' b\n[namelists]\n", "b"),
        ("x = 'a\n[namelists]\n", "'a"),
        ('x = """a\n[namelists]\n', '"""'),
        ("x = 1\nx = 2\n[namelists]\n", "x"),
    ],
)
def test_what_mkexp_cannot_read(text, marked, path):
    assert ("MKX001", marked) in lint(path, text)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("nr_of_workers = 0", ["0"]),
        ("nr_of_workers = -1", ["-1"]),
        ("nr_of_workers = 2.5 # workers", ["2.5"]),
        ("nr_of_workers = 1", []),
        ("nr_of_workers = $WORKERS", []),
        ("nr_of_workers = eval(0)", []),
        ("nr_of_workers =", []),
        ("nr_of_workers = 0, 0", []),
        ("simulated_hours_per_chunk = 0.5", ["0.5"]),
        ("simulated_hours_per_chunk = 1", []),
        ("simulated_hours_per_chunk = 1.5", []),
        ("chunks_per_shard = 0", ["0"]),
        ("chunks_per_shard = 1", []),
        ("[[grid]]\nzoom_levels = 9, 6, 8", ["6"]),
        ("[[grid]]\nzoom_levels = 8, 7", []),
        ("[[grid]]\nzoom_levels = 7", []),
        ("[[grid]]\nzoom_levels = 9, $ZOOM, 6", []),
        ("[[grid]]\nzoom_levels =", []),
        ("[[grid]]\ntype = icon\nzoom_levels = 9, 6", []),
        ("[[grid]]\ntype = healpix\nzoom_levels = 9, 6", ["6"]),
    ],
)
def test_the_plan_for_hiopy(text, marked, path):
    found = lint(path, f"[namelists]\n[hiopy]\n{text}\n")
    assert [where for code, where in found if code == "MKX002"] == marked
    assert [code for code, _ in found if code != "MKX002"] == []


def test_only_a_plan_without_workers_is_an_error(path):
    path.write_text("[namelists]\n[hiopy]\nnr_of_workers = 0\nchunks_per_shard = 0\n", encoding="utf-8")
    report = nmlgen.lint([path])
    assert [finding.severity.value for finding in report.findings] == ["error", "warning"]


def test_fixes_touch_the_file_itself_only(path):
    text = (
        "N = 3.\r\n[namelists]\r\n  [[NAMELIST_atm]]\r\n    [[[run_nml]]]\r\n"
        "      num_lev = 3. # levels\r\n      nsteps = $N\r\n      ltimr = true\r\n      dtime = abc\r\n"
    )
    assert [code for code, _ in lint(path, text)] == ["NML003", "NML003", "NML002", "NML003"]
    fixed = nmlgen.fix([path], is_unsafe=True)
    assert fixed.count == 2
    fixed.write()
    assert path.read_bytes().decode() == text.replace("= 3. #", "= 3 #").replace("ltimr", "ltimer")


def test_no_mutation_raises(path):
    generator = random.Random(3)
    for _ in range(60):
        place, length = generator.randrange(len(CONFIG)), generator.choice((0, 1, 1, 5, 40))
        letters = generator.choice(("", "'", "[", "]]", "=", ",", '"""', "\n", "$", "${", "%{id}", "#", "\x00", "é"))
        lint(path, CONFIG[:place] + letters + CONFIG[place + length :])


def test_a_configuration_is_imported_as_a_part(path):
    path.write_text(CONFIG)
    imported = nmlgen.import_spec(path, icon_release="2024.10")
    assert imported.remarks[0] == f"{path}: mkexp lays this over other files; what only they say is not in the spec"
    assert "nproma: 16" in imported.text
    path.write_text("[jobs]\n  nodes = 4\n")
    with pytest.raises(nmlgen.InputError, match="has no section namelists"):
        nmlgen.import_spec(path)


def test_not_all_problems_are_told_of_what_is_no_configuration(path):
    found = lint(path, f"{CONFIG}\n" + "]\n" * 1500)
    assert [code for code, _ in found].count("MKX001") == 1000


def chained(count: int, step: int) -> str:
    return "".join(f"[[[output_nml a{n}]]]\n.extends = output_nml a{n + step}\nx{n} = 1\n" for n in range(count))


def test_what_extends_what_is_worked_out_once(path):
    """Each of forty groups begins with the next one and, in a job, with the one behind that."""
    text = f"[namelists]\n[[NAMELIST_atm]]\n{chained(40, 1)}"
    job = chained(40, 2).replace("[[[", "[[[[[").replace("]]]", "]]]]]")
    lifted = lift(path, f"{text}[jobs]\n[[run]]\n[[[namelists]]]\n[[[[NAMELIST_atm]]]]\n{job}")
    file = next(file for file in lifted.files if len(file.groups) == 40)
    assert set(file.groups[-2].settings) == {"x38", "x39"}


def test_what_extends_itself_or_very_many(path):
    lifted = lift(
        path, f"[namelists]\n[[NAMELIST_atm]]\n[[[output_nml b]]]\n.extends = output_nml b\n{chained(2000, 1)}"
    )
    assert lifted.problems[-1].kind == "too-much"


VALUES = "".join(f"x{number} = 1\n" for number in range(300))
JOB = "[[r{}]]\n[[[namelists]]]\n[[[[NAMELIST_atm]]]]\n[[[[[run_nml]]]]]\nnum_lev = 9\n"


@pytest.mark.parametrize(
    "text",
    [
        f"[[{', '.join(f'NAMELIST_{number}' for number in range(300))}]]\n[[[run_nml]]]\n{VALUES}",
        f"[[NAMELIST_atm]]\n[[[{', '.join(f'output_nml a{number}' for number in range(300))}]]]\n{VALUES}",
        "[jobs]\n" + "".join(map(JOB.format, range(300))),
    ],
    ids=["files", "groups", "jobs"],
)
def test_of_very_many_namelists_the_first_are_read(text, path):
    lifted = lift(path, f"[namelists]\n{text}")
    written = sum(len(group.settings) for file in lifted.files for group in file.groups)
    assert written <= 20_000
    assert len(lifted.experiments) < 120
    (problem,) = lifted.problems
    assert problem.message.startswith("the namelists of all jobs have more than 20000 values")
    assert not problem.stops


def test_a_list_that_nobody_could_read_is_not_read(path):
    text = f"[[NAMELIST_atm]]\n[[[run_nml]]]\nnum_lev = 90\n[[[nonhydrostatic_nml]]]\na = {'1,' * 200_000}"
    lifted = lift(path, f"[namelists]\n{text}")
    (file,) = lifted.files
    assert [group.name for group in file.groups] == ["run_nml"]
    (problem,) = lifted.problems
    assert problem.message.startswith("the namelists of all jobs have more than 20000 values")


def test_values_that_refer_to_ever_more_others_are_unknown(path):
    """Each value is three times the next: three to the power of twelve of them."""
    keys = "".join(f"k{number} = $k{number + 1} $k{number + 1} $k{number + 1}\n" for number in range(12))
    lifted = lift(path, f"[namelists]\n{keys}k12 = x\n[[NAMELIST_atm]]\n[[[run_nml]]]\nnum_lev = $k0\ndtime = 2\n")
    assert [problem.kind for problem in lifted.problems] == ["too-much"]
    assert lifted.problems[0].message.startswith("what values refer to leads to more than")


@pytest.mark.parametrize(
    "text",
    [
        f"[[{', '.join(f'a{n}' for n in range(3000))}]]\n.hide = true\n"
        f"{''.join(f'[[[g{n}]]]{chr(10)}' for n in range(100))}",
        f"[[NAMELIST_atm]]\n[[[output_nml]]]\n{''.join(f'k{n} = 1{chr(10)}' for n in range(9000))}"
        f"[[[{', '.join(f'output_nml {n}' for n in range(50))}]]]\n.remove = {', '.join(f'k{n}' for n in range(9000))}",
    ],
    ids=["hidden", "removed"],
)
def test_what_is_not_written_counts_too(text, path):
    """Names of files times groups that are hidden in each; labels times values that each takes away again."""
    lifted = lift(path, f"[namelists]\n{text}\n")
    assert [problem.kind for problem in lifted.problems] == ["too-much"]


def test_no_more_models_than_one_too_many(path):
    names = ", ".join(f"NAMELIST_atm{number}" for number in range(30))
    lifted = lift(path, f"[namelists]\n[[{names}]]\n[[[run_nml]]]\nnum_lev = 5\n")
    assert len(lifted.experiments[0].models) == 16
