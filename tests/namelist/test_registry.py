"""The registries of ICON's releases: their form, their names, and values known by heart."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rows import rows
from steps import grows_too_fast

from nmlgen.errors import InputError
from nmlgen.experiment.group import effective
from nmlgen.experiment.setting import Certainty
from nmlgen.linting import lint
from nmlgen.namelist.registry import Removal, load_registry, read_registry, releases

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
SCHEMA = json.loads((SCHEMAS / "registry.schema.json").read_text(encoding="utf-8"))

each_release = pytest.mark.parametrize("release", releases())


def document(release: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / "icon" / f"{release}.json").read_text(encoding="utf-8"))
    return found


def test_releases_in_order() -> None:
    assert releases() == ("2024.01", "2024.07", "2024.10", "2025.04", "2025.10")


def test_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_schema_describes_every_key() -> None:
    definitions = SCHEMA["$defs"].values()
    for part in (SCHEMA, *definitions):
        for name, value in part.get("properties", {}).items():
            assert value.get("description"), name


@each_release
def test_registry_is_valid(release: str) -> None:
    errors = Draft202012Validator(SCHEMA).iter_errors(document(release))
    assert [f"{error.json_path}: {error.message}" for error in errors] == []
    assert document(release)["release"] == release


@each_release
def test_what_is_read_group_by_group_is_the_whole(release: str) -> None:
    registry, whole = load_registry(release), document(release)
    assert dict(registry._groups) == whole["groups"]
    assert dict(registry._removed) == whole["removed"]


@rows(
    ("keys", "value"),
    [
        (("groups", "io_nml", "component"), "clouds"),
        (("groups", "io_nml", "variables", "dt_diag", "type"), "float"),
        (("groups", "io_nml", "variables", "DT_DIAG"), {"type": "real"}),
        (("groups", "io_nml", "variables", "a(1)"), {"type": "real"}),
        (("groups", "io_nml", "variables", "dt_diag", "shape"), [0]),
        (("groups", "IO_nml"), {"component": "atmosphere", "variables": {}}),
        (("groups", "io_nml", "when"), {"text": "on Mondays"}),
        (("groups", "io_nml", "when"), {"variable": "run_nml.iforcing"}),
        (("groups", "io_nml", "readers"), ["atmosphere", "clouds"]),
        (("groups", "io_nml", "also"), [{"component": "atmosphere"}]),
        (("groups", "io_nml", "variables", "dt_diag", "range"), {"min": 0}),
        (("groups", "io_nml", "variables", "itype_rh", "check"), {"effect": "explodes"}),
        (("removed", "groups", "old_nml"), {"date": "2020-01-01"}),
        (("release",), "2024"),
        (("comment",), "text"),
    ],
)
def test_mistake_is_refused(keys: tuple[str, ...], value: object) -> None:
    registry = document("2024.10")
    node = registry
    for key in keys[:-1]:
        node = node[key]
    node[keys[-1]] = value
    assert not Draft202012Validator(SCHEMA).is_valid(registry)


@each_release
def test_names_are_lower_case_and_found_in_any(release: str) -> None:
    registry = load_registry(release)
    for group in registry.groups:
        assert re.fullmatch(r"[a-z]\w*", group)
        assert registry.has_group(group.upper())
        for name in registry.variables(group):
            assert name == name.lower()
            assert registry.variable(group.upper(), name.upper()) is not None


@each_release
def test_values_known_by_heart(release: str) -> None:
    registry = load_registry(release)
    mode = registry.variable("io_nml", "restart_write_mode")
    assert mode is not None
    assert (mode.type, mode.length, mode.shape, mode.default) == ("character", 256, (), "")
    order = registry.variable("diffusion_nml", "hdiff_order")
    assert order is not None
    assert order.allowed == (-1, 2, 4, 5)
    levels = registry.variable("run_nml", "num_lev")
    assert levels is not None
    assert (levels.type, levels.shape, levels.default, levels.is_array) == ("integer", (10,), 31, True)
    threshold = registry.variable("io_nml", "echotop_meta%dbzthresh")
    assert threshold is not None
    assert (threshold.base_shapes, threshold.shape) == (((10,),), (10,))
    assert registry.component("io_nml") == "atmosphere"
    assert registry.component("ocean_dynamics_nml") == "ocean"


def test_releases_differ() -> None:
    old, new = load_registry("2024.01"), load_registry("2024.10")
    nproma = [registry.variable("parallel_nml", "nproma") for registry in (old, new)]
    assert [variable.default for variable in nproma if variable] == [1, 0]
    assert old.variable("io_nml", "ff10m_interval") is None
    assert new.variable("io_nml", "ff10m_interval") is not None


@each_release
def test_groups_that_are_read(release: str) -> None:
    registry = load_registry(release)
    assert registry.is_repeatable("output_nml")
    assert not registry.is_repeatable("run_nml")
    assert registry.is_read("run_nml")
    assert not registry.is_read("cloud_two_nml")


def test_what_nobody_knows() -> None:
    registry = load_registry("2024.10")
    assert registry.variable("io_nml", "bogus") is None
    assert registry.variable("bogus_nml", "nproma") is None
    assert not registry.has_group("bogus_nml")
    assert not registry.is_repeatable("bogus_nml")


@pytest.mark.parametrize("release", ["2023.01", "", "../sites/levante", "2024.1"])
def test_unknown_release_names_the_known_ones(release: str) -> None:
    with pytest.raises(InputError, match=r"known are 2024\.01, 2024\.07, 2024\.10"):
        load_registry(release)


@each_release
def test_what_the_constraints_name_exists(release: str) -> None:
    registry = load_registry(release)
    for name in registry.groups:
        for group in registry.described(name):
            conditions = [group.condition] + [
                v.constraint.condition for v in registry.variables_of(group) if v.constraint is not None
            ]
            for condition in conditions:
                if condition is not None and condition.is_decidable:
                    assert registry.variable(condition.group, condition.variable) is not None


@each_release
def test_defaults_are_permitted(release: str) -> None:
    """What ICON assigns itself passes ICON's own checks, but for values that must be set."""
    registry = load_registry(release)
    must_be_set = {("master_model_nml", "model_type"), ("ocean_dynamics_nml", "n_zlev")}
    for name in registry.groups:
        for group in registry.described(name):
            for variable in registry.variables_of(group):
                constraint, default = variable.constraint, variable.default
                if constraint is None or isinstance(default, (dict, list)) or default is None:
                    continue
                if (name, variable.name) not in must_be_set:
                    assert not constraint.refuses(default), (name, variable.name, default)


@each_release
@pytest.mark.parametrize(
    ("group", "name", "refused", "taken"),
    [
        ("io_nml", "restart_write_mode", ["nonsense"], ["", "SYNC", "joint procs multifile "]),
        ("diffusion_nml", "hdiff_order", [3, 9], [-1, 2, 4, 5]),
        ("nonhydrostatic_nml", "ndyn_substeps", [0, -1], [1, 5]),
        ("parallel_nml", "num_io_procs", [257], [-1, 0, 256]),
        ("parallel_nml", "num_prefetch_proc", [2], [-1, 0, 1]),
        ("parallel_nml", "num_restart_procs", [], [-1, 0, 5000]),
        ("nwp_phy_nml", "inwp_gscp", [10], [-1, 0, 9]),
        ("run_nml", "nsteps", [-5], [-999, 0, 1]),
        ("transport_nml", "beta_fct", [0.9, 2.0], [1.0, 1.99]),
        ("time_nml", "calendar", [0], [-1, 1, 2, 7]),
        ("output_nml", "operation", [], ["median", "mean"]),
        ("nonhydrostatic_nml", "divdamp_order", [3, 6], [2, 4, 5, 24]),
    ],
)
def test_what_icon_refuses(release: str, group: str, name: str, refused: list[Any], taken: list[Any]) -> None:
    variable = load_registry(release).variable(group, name)
    assert variable is not None
    assert variable.constraint is not None
    assert [value for value in refused + taken if variable.constraint.refuses(value)] == refused


def test_releases_differ_in_what_they_take() -> None:
    kinds = [load_registry(release).variable("output_nml", "filetype") for release in releases()]
    assert [999 in (kind.allowed or ()) for kind in kinds if kind] == [False, True, True, True, True]
    steps = [load_registry(release).variable("output_nml", "steps_per_file") for release in releases()]
    assert [v.constraint.refuses(0) for v in steps if v and v.constraint] == [True, False, False, False, False]


@each_release
@pytest.mark.parametrize(
    ("group", "setting", "value", "holds"),
    [
        ("nwp_phy_nml", "run_nml: iforcing", 3, True),
        ("nwp_phy_nml", "run_nml: iforcing", 2, False),
        ("aes_phy_nml", "run_nml: iforcing", 5, True),
        ("art_nml", "run_nml: iforcing", 3, True),
        ("art_nml", "run_nml: iforcing", 0, False),
        ("aes_bubble_nml", "nh_testcase_nml: nh_test_name", "aes_bubble_xy  ", True),
        ("aes_bubble_nml", "nh_testcase_nml: nh_test_name", "jabw", False),
        ("hamocc_nml", "ocean_physics_nml: lhamocc", [True], True),
    ],
)
def test_when_a_group_is_read(release: str, group: str, setting: str, value: Any, holds: bool) -> None:
    condition = load_registry(release).condition(group)
    assert condition is not None
    assert f"{condition.group}: {condition.variable}" == setting
    assert condition.holds(value) is holds


@each_release
def test_who_reads_a_group_from_which_file(release: str) -> None:
    registry = load_registry(release)
    assert registry.condition("io_nml") is None
    assert registry.readers("io_nml") == ("atmosphere", "icon_output", "jsbach", "ocean", "waves")
    assert registry.readers("art_nml") == ("atmosphere",)
    assert registry.files("io_nml") == ("model",)
    assert (
        registry.files("time_nml") == registry.files("master_nml") == registry.files("jsb_control_nml") == ("master",)
    )


@each_release
def test_two_groups_of_one_name(release: str) -> None:
    registry = load_registry(release)
    assert registry.files("jsb_model_nml") == ("jsbach", "master")
    assert registry.variable("jsb_model_nml", "model_id") is None
    assert registry.variable("jsb_model_nml", "model_id", "master") is not None
    assert registry.variable("jsb_model_nml", "usecase") is not None
    assert registry.variable("jsb_model_nml", "usecase", "master") is None
    assert not registry.is_repeatable("jsb_model_nml")
    assert registry.is_repeatable("jsb_model_nml", "master")
    assert registry.variable("io_nml", "dt_diag", "master") is not None  # the only group of that name


def test_names_that_are_gone() -> None:
    registry = load_registry("2024.10")
    assert registry.removed_variable("PARALLEL_nml", "Use_SP_output") == Removal(
        "2024.01", "2013-08-14", ("parallel_nml.use_dp_mpi2io",), "with the opposite meaning"
    )
    assert registry.removed_group("ha_dyn_nml") == Removal("2024.01", "2021-03-29", (), "the hydrostatic model is gone")
    assert registry.removed_variable("io_nml", "bogus") is None
    assert registry.removed_group("io_nml") is None
    assert load_registry("2024.01").removed_variable("lnd_nml", "lurbahf") is None


@each_release
def test_names_that_are_gone_are_gone_and_their_replacements_exist(release: str) -> None:
    registry = load_registry(release)
    assert len(registry.removed) > 90
    for name, removal in registry.removed.items():
        group, _, variable = name.partition(".")
        assert not (registry.variable(group, variable) if variable else registry.has_group(group)), name
        assert removal.release <= release
        for replacement in removal.use:
            group, _, variable = replacement.partition(".")
            assert registry.variable(group, variable) if variable else registry.has_group(group), replacement


@each_release
def test_what_vanished_from_the_last_release_is_listed(release: str) -> None:
    earlier = [other for other in releases() if other < release]
    registry = load_registry(release)
    for old in map(load_registry, earlier[-1:]):
        for group in old.groups:
            if old.component(group) == "tool":
                continue
            if not registry.has_group(group):
                assert registry.removed_group(group) is not None, group
                continue
            for name in old.variables(group):
                if registry.variable(group, name) is None:
                    assert registry.removed_variable(group, name) is not None, (group, name)


def test_sizes_of_numbers() -> None:
    registry = load_registry("2024.10")
    seed, number = registry.variable("initicon_nml", "pinit_seed"), registry.variable("run_nml", "nsteps")
    single = registry.variable("ocean_dynamics_nml", "solver_tolerance_sp")
    assert seed is not None
    assert number is not None
    assert single is not None
    assert [seed.accepts(2**31), seed.accepts(2**63 - 1), seed.accepts(2**63)] == [True, True, False]
    assert [number.accepts(2**31 - 1), number.accepts(2**31), number.accepts(-(2**31))] == [True, False, True]
    assert [single.accepts(3e38), single.accepts(4e38)] == [True, False]


def test_declarations() -> None:
    registry = load_registry("2024.10")
    found = {
        name: registry.variable(group, name)
        for group, name in (
            ("io_nml", "restart_write_mode"),
            ("run_nml", "num_lev"),
            ("io_nml", "echotop_meta%dbzthresh"),
            ("comin_nml", "plugin_list%name"),
        )
    }
    assert {name: (v.full_name, v.declaration) for name, v in found.items() if v} == {
        "restart_write_mode": ("restart_write_mode", "character(len=256)"),
        "num_lev": ("num_lev", "integer, dimension(10)"),
        "echotop_meta%dbzthresh": ("echotop_meta(1:10)%dbzthresh", "real, dimension(10)"),
        "plugin_list%name": ("plugin_list(1:16)%name", "character(len=?)"),
    }


def own(tmp_path: Path, **changes: Any) -> Path:
    path = tmp_path / "own.json"
    path.write_text(json.dumps(document("2024.10") | changes))
    return path


def test_registry_of_ones_own(tmp_path: Path) -> None:
    path = own(tmp_path, release="2025.04")
    assert load_registry("2025.04", path).release == "2025.04"
    assert load_registry("2025.04", path) is load_registry("2025.04", path)
    path.write_text(json.dumps(document("2024.07") | {"release": "2025.04"}))
    assert not load_registry("2025.04", path).has_group("hd_ctl")
    assert read_registry(path).release == "2025.04"


def test_registry_of_another_release(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'is the registry of ICON 2025\.04, not of "2025\.10"'):
        load_registry("2025.10", own(tmp_path, release="2025.04"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("\udcff", "is no JSON"),
        ("{}", "is no registry"),
        ("[]", "is no registry"),
        ('{"format": 2, "model": "icon", "release": "2025.04", "groups": {}}', r"\$\.format: 1 was expected"),
        ('{"format": 1, "model": "icon", "release": "2025.04", "groups": {"a": {}}}', r"\$\.groups\.a: 'component'"),
    ],
)
def test_file_that_is_no_registry(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "own.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=message):
        read_registry(path)


def test_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "nul\0"):
        with pytest.raises(InputError):
            read_registry(path)


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("wave_nml", ["oce_vct_filename", "stokes_method", "stokes_depth"]),
        ("initwave_nml", ["init_mode"]),
        (
            "ocean_initialconditions_nml",
            [
                "use_fillvalue",
                "use_initicono",
                "dt_iau_oce",
                "lread_ana_oce",
                "check_fg_oce%list",
                "check_ana_oce%list",
            ],
        ),
        ("lnd_veg_nml", ["active", "lrestart_cont", "flag_herbivory", "veg_bnf_scheme"]),
        ("lnd_q_agr_nml", ["fertiliser_filename_prefix"]),
        ("jsb_model_nml", ["npft", "single_site_lonlat"]),
        ("jsb_forcing_nml", ["forcing_c13_const_c13"]),
    ],
)
def test_what_2025_10_brought(group, names):
    for name in names:
        assert load_registry("2025.10").variable(group, name) is not None
        assert load_registry("2025.04").variable(group, name) is None


def group(**changes: Any) -> dict[str, Any]:
    return {"component": "atmosphere", "variables": {}} | changes


def nested(depth: int) -> dict[str, Any]:
    found = group()
    for _ in range(depth):
        found = group(also=[found])
    return found


_REFUSED = {
    "a name of a file": ({"x_nml": group(spelling="../../x_nml")}, "spelling: it is another name"),
    "another name of the same file": ({"x_nml": group(also=[group(spelling="y_nml")])}, "spelling: it is another name"),
    "a line end": ({"x_nml\n": group()}, "does not match"),
    "a fraction": ({"x_nml": group(variables={"a": {"type": "real", "shape": [2.0]}})}, "not of type"),
    "groups within each other": ({"x_nml": nested(250)}, "it is nested too deep"),
    "more dimensions than Fortran has": (
        {"x_nml": group(variables={"a": {"type": "real", "shape": [1] * 16}})},
        "shape",
    ),
}


@rows("what", _REFUSED)
def test_groups_of_ones_own_that_are_refused(tmp_path: Path, what: str) -> None:
    groups, message = _REFUSED[what]
    with pytest.raises(InputError, match=message):
        read_registry(own(tmp_path, groups=groups))


def test_very_many_groups_of_one_name(tmp_path: Path) -> None:
    def work(number: int) -> Any:
        others = [group(variables={f"a{at}": {"type": "integer"}}) for at in range(number)]
        registry = read_registry(own(tmp_path, release=f"2{number:03}.01", groups={"x_nml": group(also=others)}))
        return lambda: (
            [registry.variables_of(one) for one in registry.described("x_nml")]
            + [registry.variable("x_nml", f"a{at}") for at in range(number)]
        )

    assert not grows_too_fast(work, 100)


def test_a_variable_with_very_many_values(tmp_path: Path) -> None:
    allowed = [f"w{at}" for at in range(1000)]
    variable = {"type": "character", "allowed": [*allowed, 7], "check": {"effect": "abort", "below": "replaced"}}
    registry = read_registry(own(tmp_path, groups={"x_nml": group(variables={"a": variable})}))
    found = registry.variable("x_nml", "a")
    assert found is not None
    assert found.constraint is not None
    assert found.constraint.permits("W999 ")
    assert not found.constraint.permits("w1000")
    assert found.constraint.permits(7)
    assert not found.constraint.refuses(6)
    assert found.constraint.expected.endswith('"w98", "w99" and 901 more')


_ELEMENTS: dict[str, tuple[Any, Any]] = {
    "single ones": ({"set": {"3": 1}, "fill": 2}, [2, 2, 1]),
    "none": ({"fill": 2}, []),
    "of several dimensions": ({"set": {"1,2": 1}, "fill": 2}, None),
    "beyond all": ({"set": {"999999999999": 1}}, None),
    "no numbers": ({"set": {"a": 1}}, None),
    "other digits": ({"set": {"\u00b2": 1}}, None),
}


@rows("what", _ELEMENTS)
def test_elements_of_a_default(tmp_path: Path, what: str) -> None:
    default, elements = _ELEMENTS[what]
    variables = {"a": {"type": "integer", "shape": [5], "default": default}}
    registry = read_registry(own(tmp_path, groups={"x_nml": group(variables=variables)}))
    found = registry.variable("x_nml", "a")
    assert found is not None
    assert found.first_elements == elements
    setting = effective(registry, None, "x_nml", "a")
    assert setting.certainty is (Certainty.UNKNOWN if elements is None else Certainty.DEFAULT)
    assert elements is None or setting.value == (elements or 2)


def test_components_are_found_by_what_they_are_of(tmp_path: Path) -> None:
    names = ["a", "b%x", "b%y%z", "bc%x"]
    registry = read_registry(
        own(tmp_path, groups={"x_nml": group(variables={name: {"type": "integer"} for name in names})})
    )
    assert [list(registry.components("x_nml", base)) for base in ("a", "b", "bc", "c")] == [
        [],
        ["b%x", "b%y%z"],
        ["bc%x"],
        [],
    ]


def test_of_very_many_variables_not_all_are_named(tmp_path: Path) -> None:
    (tmp_path / "namelist").write_text("&run_nml\n zzz = 1\n/\n")
    variables = {f"var{number}": {"type": "integer"} for number in range(6000)}
    registry = own(tmp_path, groups={"run_nml": group(variables=variables)})
    findings = lint([tmp_path / "namelist"], icon_release=str(registry)).findings
    finding = next(one for one in findings if one.code == "NML002")
    assert finding.notes[-1].endswith(", var199 and 5800 more")
