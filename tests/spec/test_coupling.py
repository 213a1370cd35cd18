"""coupling.yaml: read with its places, written again, and carried through a build."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows

import nmlgen
from nmlgen.experiment.setting import Certainty
from nmlgen.importing import import_spec
from nmlgen.lift.loading import load
from nmlgen.source import UNKNOWN, Source
from nmlgen.spec.coupling import read_coupling, text_of
from nmlgen.spec.spec import load_spec

COUPLED = Path(__file__).parent.parent / "rules" / "example-coupled.yaml"
SITE = f"site={COUPLED.with_name('example-site.yaml')}"
MERGED = """\
definitions:
  there: &there {src_component: atm, src_grid: icon_atmos_grid, tgt_component: oce, tgt_grid: icon_ocean_grid}
  often: &often
    coupling_period: PT20M
    interpolation: [nnn, {fixed: {user_value: -1.0}}]
timestep_unit: ISO_format
coupling:
  - <<: [*there, *often]
    coupling_period: PT30M
    field: [total_heat_flux, {src: a, tgt: b}]
"""


def read(text: str):
    return read_coupling(Source("coupling.yaml", text))


def test_merged_mappings_keep_their_places():
    found = read(MERGED)
    assert found.problems == ()
    (couple,) = found.couples
    assert couple.period is not None
    assert (couple.period.value, str(couple.period.span)) == ("PT30M", "coupling.yaml:9:22")
    assert couple.source.component is not None
    assert str(couple.source.component.span) == "coupling.yaml:2:33"
    assert [(one.value, other.value) for one, other in couple.fields] == [("total_heat_flux",) * 2, ("a", "b")]
    assert "definitions" not in found.content


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<<: [*there, *often]", "<<: {src_lag: 1}", "<< merges mappings by their aliases only"),
        ("<<: [*there, *often]", "<<: [*there, 3]", "<< merges mappings by their aliases only"),
        ("<<: [*there, *often]", "<<: *there\n    <<: *often", 'the key "<<" stands here a second time'),
    ],
)
def test_merges_that_the_couplers_reader_does_not_take(old, new, message):
    """libfyaml 0.7.12 refuses them: "invalid merge key value", "duplicate key"."""
    assert [problem.message for problem in read(MERGED.replace(old, new)).problems] == [message]


def test_parameters_of_a_later_coupler_are_taken():
    areas = "src_cell_area: {file: {filename: a.nc}}, tgt_cell_area: {yac: {sphere_radius: 1}}"
    user_file = "{user_file: {filename: w.nc, on_missing_file: continue, on_success: stop}}"
    text = f"{MERGED}    interpolation: [{{source_to_target_map: {{{areas}}}}}, {user_file}]\n"
    assert read(text).problems == ()


def test_content_is_written_so_that_it_is_read_the_same():
    found = read(MERGED)
    assert read(text_of(found.content)).content == found.content


@rows("value", ["n", "yes", "1", "a: b", "- a", "", "360d", "ISO_format", "#a", 1.5, True, None, {}, []])
def test_every_scalar_is_written_so_that_it_is_read_the_same(value):
    content = {"debug": {"global_config": value, "n": [value]}}
    assert read(text_of(content)).content == content


@rows(
    ("old", "new", "message"),
    [
        ("timestep_unit: ISO_format\n", "", "timestep_unit does not stand before coupling"),
        ("timestep_unit: ISO_format", "timestep_unit: minutes", 'timestep_unit is "minutes"'),
        ("    coupling_period: PT30M\n", "    period: PT30M\n", 'there is no key "period" in coupling.0'),
        ("user_value", "value", 'there is no key "value" in coupling.0.interpolation.1.fixed'),
        ("[nnn,", "[nearest,", 'coupling.0.interpolation.0 is "nearest"'),
        ("src: a", "source: a", 'there is no key "source" in coupling.0.field.1'),
        ("    coupling_period", "\tcoupling_period", "found a tab that cannot start any token"),
        ("    field:", "    src_lag: null\n    field:", 'coupling.0.src_lag is "null"'),
        ("    field:", "    tgt_lag:\n    field:", 'coupling.0.tgt_lag is "null"'),
        ("ISO_format\n", "ISO_format\ncalendar: ~\n", 'calendar is "null"'),
    ],
)
def test_what_yac_refuses_is_a_problem(old, new, message):
    assert message in [problem.message for problem in read(MERGED.replace(old, new)).problems]


def test_keys_at_the_top_that_yac_does_not_know_are_none():
    assert read(MERGED + "something: else\n").problems == ()


def test_very_many_couples_are_not_read():
    found = read("coupling:\n" + "  - {src_lag: 1, field: a}\n" * 4_000)
    (problem,) = found.problems
    assert (problem.code, problem.message) == ("SPC006", "more than 20000 values and keys")
    assert found.is_open


def test_sections_without_anything_are_passed_over():
    assert read(MERGED + "debug:\n").problems == ()
    assert read("timestep_unit: ISO_format\ncoupling:\n").problems == ()


def test_what_only_a_run_knows_is_open_and_no_problem():
    found = read(MERGED.replace("PT30M", UNKNOWN).replace("nnn", "nearest"))
    assert (found.text, found.is_open, found.problems) == (None, True, ())
    period = found.couples[0].period
    assert period is not None
    assert period.certainty is Certainty.UNKNOWN


def coupled(*overrides: str):
    return load_spec(COUPLED, [SITE, *overrides])


def test_a_build_holds_the_file_and_its_script_copies_it():
    build = nmlgen.build(coupled())
    text = build.files["coupling.yaml"].decode()
    heading, text = text.split("\n", 1)
    assert heading.startswith("# coupling.yaml of example, written by nmlgen ")
    assert text.startswith("timestep_unit: ISO_format\ncoupling:\n")
    assert 'cp -- "$here"/coupling.yaml .' in build.files["example.sbatch"].decode()
    assert read(text).problems == ()


def test_a_file_that_is_there_is_taken_as_it_is(tmp_path):
    (tmp_path / "mine.yaml").write_text(MERGED)
    spec = tmp_path / "spec.yaml"
    spec.write_text(f"extends: {COUPLED}\ncoupling: null\n")
    top = tmp_path / "top.yaml"
    top.write_text("extends: ./spec.yaml\ncoupling: {file: mine.yaml}\n")
    experiment = load_spec(top, [SITE]).experiment
    assert experiment.coupling is not None
    assert experiment.coupling.text == MERGED
    with pytest.raises(nmlgen.SpecError, match=r"coupling\.file"):
        load_spec(top, [SITE, "coupling.file=yours.yaml"])


def test_a_place_in_the_list_of_a_spec_is_known():
    experiment = coupled().experiment
    assert experiment.coupling is not None
    period = experiment.coupling.couples[1].period
    assert period is not None
    assert period.span is not None
    assert period.span.text == "PT30M"


def test_import_brings_it_back(tmp_path):
    nmlgen.build(coupled()).write(tmp_path)
    first = load(tmp_path).experiment.coupling
    assert first is not None
    (tmp_path / "spec.yaml").write_text(import_spec(tmp_path).text)
    second = load_spec(tmp_path / "spec.yaml", [SITE]).experiment.coupling
    assert second is not None
    assert second.content == first.content


def test_lint_of_a_master_judges_the_file_beside_it(tmp_path):
    files = nmlgen.build(coupled()).files
    for name in files:
        if not name.endswith((".sbatch", ".json")):
            (tmp_path / name).write_bytes(files[name])
    assert nmlgen.lint([tmp_path], ntasks=256).errors == ()
    path = tmp_path / "coupling.yaml"
    path.write_text(path.read_text().replace("total_heat_flux", "total_heat_flx"))
    (error,) = nmlgen.lint([tmp_path], ntasks=256).errors
    assert (error.code, Path(error.file or "").name) == ("CPL005", "coupling.yaml")
    path.unlink()
    (warning,) = [found for found in nmlgen.lint([tmp_path], ntasks=256).findings if found.code.startswith("CPL")]
    assert warning.code == "CPL004"


def test_what_a_script_writes_is_found_where_it_stands(tmp_path):
    files = nmlgen.build(coupled()).files
    script = tmp_path / "exp.coupled"
    body = "".join(
        f"cat > {name} <<'EOF'\n{files[name].decode()}EOF\n"
        for name in files
        if not name.endswith((".sbatch", ".json"))
    )
    script.write_text(f"#!/bin/bash\n{body.replace('total_heat_flux', 'total_heat_flx')}srun -n 256 ./icon\n")
    (error,) = [found for found in nmlgen.lint([script]).errors if found.code.startswith("CPL")]
    assert error.code == "CPL005"
    assert "total_heat_flx" in script.read_text().splitlines()[(error.line or 0) - 1]


NESTED = """\
timestep_unit: ISO_format
coupling:
  - source: {component: atm, grid: icon_atmos_grid}
    target: &there {component: oce, grid: [icon_ocean_grid, icon_ocean_nest]}
    coupling_period: PT20M
    field: total_heat_flux
"""


def test_sides_in_a_mapping_are_those_that_stand_beside_each_other():
    found = read(NESTED)
    assert found.problems == ()
    (couple,) = found.couples
    assert couple.source.component is not None
    assert (couple.source.component.value, str(couple.source.component.span)) == ("atm", "coupling.yaml:3:25")
    assert [grid.value for grid in couple.target.grids] == ["icon_ocean_grid", "icon_ocean_nest"]
    assert found.content["coupling"][0]["src_grid"] == "icon_atmos_grid"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{component: atm,", "{componnet: atm,", 'there is no key "componnet" in coupling.0.source'),
        (", grid: icon_atmos_grid}", "}", "'src_grid' is a required property in coupling.0"),
        ("source: {component: atm, grid: icon_atmos_grid}", "source: atm", 'coupling.0.source is "atm"'),
    ],
)
def test_sides_that_the_coupler_does_not_take(old, new, message):
    assert message in [problem.message for problem in read(NESTED.replace(old, new)).problems]


@pytest.mark.parametrize(
    "method",
    [
        "avg",
        "{hcsbb: {}}",
        "{nnn: {n: 4, n_min: 0, max_search_distance: 0.1 rad}}",
        "{dnn: {search_distance: {fixed: 2deg}, weighted: rbf_weighted}}",
        "{ncc: {weighted: average}}",
        "{file: {filename: weights.nc}}",
    ],
)
def test_methods_of_a_later_coupler_are_taken(method):
    assert read(f"{NESTED}    interpolation: [{method}]\n").problems == ()
