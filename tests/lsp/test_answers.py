"""What the language server answers about a document, each asked by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from rows import rows

from nmlgen.api import check
from nmlgen.disk import MOST_BYTES
from nmlgen.errors import InputError
from nmlgen.linting import lint
from nmlgen.lsp.analysis import analyse
from nmlgen.lsp.completion import completions_at
from nmlgen.lsp.definition import definitions_at
from nmlgen.lsp.diagnostics import actions_at, diagnostics_of
from nmlgen.lsp.documents import Documents, kind_of, path_of
from nmlgen.lsp.hover import hover_at
from nmlgen.lsp.positions import Positions
from nmlgen.lsp.renaming import renamed, stream_at
from nmlgen.lsp.symbols import symbols_of
from nmlgen.source import Source
from nmlgen.spec.spec import load_spec

EXAMPLES = Path(__file__).parents[2] / "examples"
SPEC = (EXAMPLES / "nh_dcmip_tc_52_r2b5.yaml").read_text(encoding="utf-8")
SCRIPT = (EXAMPLES / "aquaplanet.run").read_text(encoding="utf-8")


class Asked:
    """One text with a bar at the place that is asked about."""

    def __init__(self, path: Path, text: str) -> None:
        at = text.index("|") if "|" in text else 0
        self.text = text.replace("|", "", 1)
        self.documents = Documents()
        self.document = self.documents.put(path.as_uri(), self.text, 1)
        self.position = Positions(self.document.source).position(at)
        self.offset = at
        self.analysis = analyse(self.document, self.documents.files())

    @property
    def hover(self) -> str:
        found = hover_at(self.analysis, self.documents.files(), self.position, "utf-16", self.analysis.spec)
        return "" if found is None else found.contents.value

    @property
    def items(self) -> list[types.CompletionItem]:
        return completions_at(self.document, self.documents.files(), self.position, "utf-16", self.analysis.spec).items

    @property
    def labels(self) -> list[str]:
        return [item.label for item in self.items]

    @property
    def definitions(self) -> list[types.Location]:
        return definitions_at(self.analysis, self.documents.files(), self.position, "utf-16", self.analysis.spec)

    def applied(self, edits: list[types.TextEdit]) -> str:
        text, positions = self.text, Positions(self.document.source)
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
            text = text[: positions.offset(edit.range.start)] + edit.new_text + text[positions.offset(edit.range.end) :]
        return text


def with_bar(text: str, word: str, at: int = 0) -> str:
    start = text.index(word) + at
    return f"{text[:start]}|{text[start:]}"


# --- One truth ---


@pytest.mark.parametrize("name", ["aquaplanet.run"])
def test_scripts_are_judged_as_lint_judges_them(name):
    asked = Asked(EXAMPLES / name, (EXAMPLES / name).read_text(encoding="utf-8"))
    assert asked.document.kind == "script"
    assert [f.code for f in asked.analysis.findings] == [f.code for f in lint([EXAMPLES / name]).findings]


def test_specs_are_judged_as_check_judges_them(tmp_path):
    text = SPEC.replace("stream_partitions_ml: 8", "stream_partitions_ml: 9")
    (tmp_path / "spec.yaml").write_text(text, encoding="utf-8")
    found = check(load_spec(tmp_path / "spec.yaml")).findings
    asked = Asked(tmp_path / "spec.yaml", text)
    assert [(f.code, f.line, f.column) for f in asked.analysis.findings] == [(f.code, f.line, f.column) for f in found]
    assert found


def test_a_namelist_is_judged_with_its_master(tmp_path):
    (tmp_path / "icon_master.namelist").write_text(
        "&master_time_control_nml\n experimentStartDate = '2000-01-01T00:00:00Z'\n"
        " experimentStopDate = '2000-01-02T00:00:00Z'\n/\n&master_model_nml\n model_type = 1\n model_name = 'atm'\n"
        " model_namelist_filename = 'NAMELIST_atm'\n/\n"
    )
    text = "&grid_nml\n dynamics_grid_filename = 'g.nc'\n/\n&run_nml\n dtime = 7\n/\n"
    asked = Asked(tmp_path / "NAMELIST_atm", text)
    assert tmp_path / "icon_master.namelist" in asked.analysis.read.values()
    (tmp_path / "NAMELIST_atm").write_text(text)
    codes = {f.code for f in lint([tmp_path]).findings}
    assert {f.code for f in asked.analysis.findings} == codes


@rows(
    ("name", "text", "kind"),
    [
        ("NAMELIST_a", "", "namelist"),
        ("a.nml", "", "namelist"),
        ("exp.a", "cat <<EOF\n&run_nml\n/\nEOF\n", "script"),
        ("a", "#!/bin/ksh\n", "script"),
        ("a.config", "[namelists]\n", "config"),
        ("a.config", "x = 1\n", None),
        ("a.yaml", "extends: icon/jabw\n", "spec"),
        ("a.yaml", "services: {}\n", None),
        ("a.yaml", "machine: {scheduler: none}\n", "site"),
        ("nmlgen.toml", "", "project"),
        ("pyproject.toml", "[project]\n", None),
        ("pyproject.toml", "[tool.nmlgen]\n", "project"),
        ("a.py", "print(1)\n", None),
        ("a.md", "#!/bin/sh\n", None),
        ("NAMELIST_a", " " * (MOST_BYTES + 1), None),
    ],
)
def test_kinds(name, text, kind):
    assert kind_of(Path(name), Source(name, text)) == kind


@pytest.mark.parametrize(
    "uri", ["untitled:a", "", "::", "file://", "file:///\0", "http://[", "file:relative", "\ud800"]
)
def test_any_uri_has_a_path(uri):
    assert path_of(uri).is_absolute()


def test_a_project_s_mistake_has_its_place(tmp_path):
    asked = Asked(tmp_path / "nmlgen.toml", 'site = "levante"\nselekt = ["RST"]\n')
    (found,) = diagnostics_of(asked.analysis, "utf-16")
    assert found.range == types.Range(types.Position(1, 0), types.Position(1, 6))
    assert 'did you mean "select"?' in found.message
    asked = Asked(tmp_path / "nmlgen.toml", "site = \n")
    assert diagnostics_of(asked.analysis, "utf-16")[0].range.start.line == 0


def test_sites_and_presets_of_one_s_own(tmp_path):
    assert Asked(tmp_path / "a.yaml", "about: {group: mine}\nmodel: {release: '2024.10'}\n").analysis.findings == ()
    wrong = Asked(tmp_path / "a.yaml", "about: {group: mine}\nmodel: {releas: '2024.10'}\n").analysis.findings
    assert [f.code for f in wrong] == ["SPC003"]
    site = Asked(tmp_path / "s.yaml", "description: x\nmachine: {scheduler: slurmm, file_system: lustre}\n")
    assert [f.code for f in site.analysis.findings] == ["SPC004"]


def test_a_sweep_is_judged_point_by_point(tmp_path):
    text = SPEC + "sweep: {grid: {parallel.num_io_procs: [8, 9]}}\n"
    found = Asked(tmp_path / "a.yaml", text).analysis.findings
    assert found
    assert all("concerns" in f.notes[-1] for f in found)


# --- Hover ---


def test_hover_on_a_variable(tmp_path):
    text = "&io_nml\n restart_file_|type = 5\n/\n&run_nml\n/\n"
    asked = Asked(tmp_path / "NAMELIST_a", text)
    assert "The format of checkpoints" in asked.hover
    assert "one of 4, 5" in asked.hover
    assert "in force: `5`, set in line 2" in asked.hover


def test_hover_on_what_a_script_writes(tmp_path):
    asked = Asked(tmp_path / "exp.run", with_bar(SCRIPT, "num_io_procs ", 2))
    assert "in force: `0`, set in line 33" in asked.hover
    asked = Asked(tmp_path / "exp.run", with_bar(SCRIPT, "$io_procs", 2))
    assert "`$io_procs`" in asked.hover
    assert "set in line 15" in asked.hover
    assert "### SHL003" in Asked(tmp_path / "exp.run", with_bar(SCRIPT, "io_procs=$((", 2)).hover


def test_hover_on_keys_of_a_spec(tmp_path):
    assert "MPI tasks on each node" in Asked(tmp_path / "a.yaml", with_bar(SPEC, "ntasks_per_node")).hover
    hover = Asked(tmp_path / "a.yaml", with_bar(SPEC, "nproma")).hover
    assert "Cells in a block" in hover
    assert "replaced: " in hover
    hover = Asked(tmp_path / "a.yaml", with_bar(SPEC, "levante", 2)).hover
    assert "The machine: a name such as levante" in hover


def test_hover_on_keys_of_sites_and_of_the_project(tmp_path):
    site = Asked(tmp_path / "a.yaml", "description: x\nmachine:\n  schedul|er: slurm\n  cores_per_node: 4\n")
    assert "The batch system" in site.hover
    assert "one of slurm" in site.hover
    site = Asked(tmp_path / "a.yaml", "description: x\nmachine:\n  cores_per|_node: 4\n")
    assert "Physical cores" in site.hover
    assert "The rules to report" in Asked(tmp_path / "nmlgen.toml", 'sel|ect = ["RST"]\n').hover
    assert "Why; it is shown" in Asked(tmp_path / "nmlgen.toml", '[[ignore]]\nrea|son = "x"\n').hover


def test_hover_on_output_variables_and_groups(tmp_path):
    hover = Asked(tmp_path / "NAMELIST_a", "&output_nml\n ml_varlist = 'te|mp'\n/\n").hover
    assert "**temp**: temperature [K]" in hover
    assert "dynamics, on height full levels (cell)" in hover
    hover = Asked(tmp_path / "NAMELIST_a", "&output_nml\n ml_varlist = 'group:precip|_vars'\n/\n").hover
    assert "output variables" in hover
    assert "tot_prec" in hover
    assert "every copy is read" in Asked(tmp_path / "NAMELIST_a", "&outp|ut_nml\n/\n").hover


def test_hover_on_a_rule(tmp_path):
    asked = Asked(tmp_path / "NAMELIST_a", "&run_nml\n num_lev = 30. ! nmlgen: ignore[NML|003] so\n/\n")
    assert asked.hover.startswith("### NML003 wrong-type")
    assert Asked(tmp_path / "NAMELIST_a", "&run_nml\n/\n\n |\n").hover == ""


# --- Completion ---


@rows(
    ("name", "text", "label"),
    [
        ("NAMELIST_a", "&para|", "parallel_nml"),
        ("NAMELIST_a", "&parallel_nml\n num_io|\n", "num_io_procs"),
        ("NAMELIST_a", "&io_nml\n restart_write_mode = '|'\n", "joint procs multifile"),
        ("NAMELIST_a", "&run_nml\n ltransport = |\n", ".true."),
        ("NAMELIST_a", "&output_nml\n ml_varlist = 'tem|'\n", "temp"),
        ("NAMELIST_a", "&output_nml\n ml_varlist = 'group:prec|'\n", "group:precip_vars"),
        ("NAMELIST_a", "&output_nml\n filetype = |\n", "4"),
        ("NAMELIST_a", "&run_nml\n num_lev = 30. ! nmlgen: ignore[NML00|\n", "NML003"),
        ("exp.a", "cat >NAMELIST_a <<EOF\n&run_nml\n num_l|\n/\nEOF\n", "num_lev"),
        ("a.config", "[namelists]\n[[NAMELIST_atm]]\n[[[io_nml]]]\n dt_di|\n", "dt_diag"),
        ("a.yaml", "extends: icon/ja|\n", "icon/jabw"),
        ("a.yaml", "site: lev|\n", "levante"),
        ("a.yaml", "extends: icon/jabw\nlus|\n", "lustre"),
        ("a.yaml", "extends: icon/jabw\njob:\n  ntasks|\n", "ntasks_per_node"),
        ("a.yaml", "extends: icon/jabw\nmodel: {release: |}\n", "2024.10"),
        ("a.yaml", "extends: icon/jabw\nparallel:\n  npro|\n", "nproma"),
        ("a.yaml", "extends: icon/jabw\nnamelists:\n  nwp_ph|\n", "nwp_phy_nml"),
        ("a.yaml", "extends: icon/jabw\nnamelists:\n  nwp_phy_nml:\n    inwp_gs|\n", "inwp_gscp"),
        ("a.yaml", "extends: icon/jabw\nrestart: {restart_write_mode: joint|}\n", "joint procs multifile"),
        ("a.yaml", "extends: icon/jabw\noutput:\n  atm:\n    ml_varlist: [te|]\n", "temp"),
        ("a.yaml", "extends: icon/jabw\nmpi: {implementation: in|}\n", "intel"),
        ("a.yaml", "extends: icon/jabw\nsweep:\n  grid:\n    parallel.num_io|\n", "parallel.num_io_procs"),
        ("a.yaml", "description: x\nmachine:\n  sched|\n", "scheduler"),
        ("a.yaml", "description: x\nmachine:\n  scheduler: |\n", "slurm"),
        ("nmlgen.toml", "ico|\n", "icon-release"),
        ("nmlgen.toml", "[[ignore]]\n|\n", "reason"),
        ("nmlgen.toml", 'site = "lev|"\n', "levante"),
        ("nmlgen.toml", '[[ignore]]\nrule = "RST00|"\n', "RST001"),
    ],
)
def test_completion(tmp_path, name, text, label):
    asked = Asked(tmp_path / name, text)
    assert label in asked.labels[:12]


def test_what_is_written_replaces_the_word(tmp_path):
    asked = Asked(tmp_path / "NAMELIST_a", "&output_nml\n ml_varlist = tem|\n/\n")
    item = next(item for item in asked.items if item.label == "temp")
    assert asked.applied([item.text_edit]) == "&output_nml\n ml_varlist = 'temp'\n/\n"
    asked = Asked(tmp_path / "NAMELIST_a", "&run_nml\n num_l|\n/\n")
    item = next(item for item in asked.items if item.label == "num_lev")
    assert asked.applied([item.text_edit]) == "&run_nml\n num_lev = \n/\n"
    assert item.detail.startswith("integer, dimension(10), default ")


@pytest.mark.parametrize("text", ["|", "# |\n", "x |", "&nothing_nml\n |\n"])
def test_where_nothing_is_known_nothing_is_offered(tmp_path, text):
    assert Asked(tmp_path / "NAMELIST_a", text).labels == []


# --- Definition, symbols, rename ---


def test_definitions(tmp_path):
    (found,) = Asked(tmp_path / "a.yaml", with_bar(SPEC, "icon/nh_dcmip", 3)).definitions
    assert found.uri.endswith("presets/icon/nh_dcmip_tc_52.yaml")
    own, preset = Asked(tmp_path / "a.yaml", with_bar(SPEC, "output_interval", 3)).definitions
    assert own.uri.endswith("/a.yaml")
    assert preset.uri.endswith("presets/icon/nh_dcmip_tc_52.yaml")
    (found,) = Asked(tmp_path / "exp.run", with_bar(SCRIPT, "$dtime", 2)).definitions
    assert found.range.start.line == SCRIPT[: SCRIPT.index("(( dtime")].count("\n")
    (found,) = Asked(tmp_path / "exp.run", with_bar(SCRIPT, "* writers", 4)).definitions
    assert found.range.start.line == SCRIPT[: SCRIPT.index("writers=2")].count("\n")
    assert Asked(tmp_path / "NAMELIST_a", "|x").definitions == []


def test_definition_of_a_variable_that_an_earlier_copy_sets(tmp_path):
    asked = Asked(tmp_path / "NAMELIST_a", "&io_nml\n dt_diag = 1\n/\n&io_nml\n dt_di|ag = 2\n/\n&run_nml\n/\n")
    (found,) = asked.definitions
    assert found.range.start.line == 1


def test_symbols(tmp_path):
    def names(symbols):
        return [(symbol.name, names(symbol.children)) for symbol in symbols]

    asked = Asked(tmp_path / "NAMELIST_a", "&run_nml\n num_lev = 3, dtime = 2\n/\n&io_nml\n/\n")
    assert names(symbols_of(asked.document, "utf-16")) == [
        ("&run_nml", [("num_lev", []), ("dtime", [])]),
        ("&io_nml", []),
    ]
    asked = Asked(tmp_path / "exp.run", SCRIPT)
    first = symbols_of(asked.document, "utf-16")[0]
    assert first.name == "cat >icon_master.namelist <<EOF"
    assert [child.name for child in first.children] == ["&master_time_control_nml", "&master_model_nml"]
    asked = Asked(tmp_path / "a.yaml", "name: x\noutput:\n  atm:\n    mode: 1\nextends: icon/jabw\n")
    found = names(symbols_of(asked.document, "utf-16"))
    assert found == [("name", []), ("output", [("atm", [("mode", [])])]), ("extends", [])]


@pytest.mark.parametrize("name", ["aquaplanet.run", "nh_dcmip_tc_52_r2b5.yaml"])
def test_symbols_lie_within_each_other(name):
    asked = Asked(EXAMPLES / name, (EXAMPLES / name).read_text(encoding="utf-8"))

    def key(position):
        return position.line, position.character

    def look(symbols, start, end):
        for symbol in symbols:
            assert start <= key(symbol.range.start) <= key(symbol.selection_range.start)
            assert key(symbol.selection_range.end) <= key(symbol.range.end) <= end
            look(symbol.children, key(symbol.range.start), key(symbol.range.end))

    look(symbols_of(asked.document, "utf-16"), (0, 0), (10**9, 0))


STREAMS = """\
extends: icon/jabw
output:
  'a': {mode: 1}
  b: {mode: 1}
models:
  atm: {output: {a: {mode: 2}, c: {mode: 1}}}
  oce: {output: {c: {mode: 1}}}
sweep:
  grid: {output.a.mode: [1, 2], models.atm.output.c.mode: [1]}
  exclude: ["output.a.mode == 2 and output.ab.mode == 1"]
"""


def test_a_stream_gets_another_name(tmp_path):
    asked = Asked(tmp_path / "a.yaml", with_bar(STREAMS, "'a'", 1))
    assert stream_at(asked.document, asked.offset) is not None
    edit = renamed(asked.document, asked.offset, "new", "utf-16", None)
    text = asked.applied(edit.changes[asked.document.uri])
    assert text == STREAMS.replace("'a'", "'new'").replace("{a:", "{new:").replace("output.a.", "output.new.")


def test_a_stream_of_one_model_gets_another_name(tmp_path):
    asked = Asked(tmp_path / "a.yaml", with_bar(STREAMS, "c: {mode: 1}}}\n  oce"))
    edit = renamed(asked.document, asked.offset, "new", "utf-16", None)
    text = asked.applied(edit.changes[asked.document.uri])
    assert text == STREAMS.replace("c: {mode: 1}}}\n  oce", "new: {mode: 1}}}\n  oce").replace(".c.", ".new.")


@pytest.mark.parametrize(
    ("word", "name", "message"),
    [
        ("'a'", "b", 'there is a stream "b" already'),
        ("'a'", "a b", "cannot be the name of a stream"),
        ("extends", "b", "no output stream"),
    ],
)
def test_names_that_a_stream_cannot_get(tmp_path, word, name, message):
    asked = Asked(tmp_path / "a.yaml", with_bar(STREAMS, word, 1))
    with pytest.raises(InputError, match=message):
        renamed(asked.document, asked.offset, name, "utf-16", None)


def test_a_stream_that_a_preset_has_keeps_its_name(tmp_path):
    asked = Asked(tmp_path / "a.yaml", with_bar(SPEC, "  atm:", 3))
    with pytest.raises(InputError, match="preset icon/nh_dcmip_tc_52 says something"):
        renamed(asked.document, asked.offset, "new", "utf-16", asked.analysis.spec)


# --- Whatever is typed ---


@pytest.mark.parametrize(
    ("name", "text"), [("NAMELIST_a", "&run_nml\n num_lev = 'é𝒳\n"), ("exp.run", SCRIPT), ("a.yaml", SPEC)]
)
def test_half_a_text_is_no_trouble(tmp_path, name, text):
    for end in range(0, len(text), max(1, len(text) // 12)):
        asked = Asked(tmp_path / name, f"{text[:end]}|")
        assert not [f.message for f in asked.analysis.findings if "mistake in nmlgen" in f.message]
        diagnostics_of(asked.analysis, "utf-16")
        _ = asked.hover, asked.labels, asked.definitions
        symbols_of(asked.document, "utf-16")


def test_line_ends_and_tabs_keep_their_places(tmp_path):
    text = "&parallel_nml\r\n\tnproma = 16 ! ä𝒳\r\n\tdivision_file_name = '𝒳', num_io_proc = 2\r\n/\r\n"
    asked = Asked(tmp_path / "NAMELIST_a", text)
    (found,) = (one for one in diagnostics_of(asked.analysis, "utf-16") if one.code == "NML002")
    column = len("\tdivision_file_name = '𝒳', ".encode("utf-16-le")) // 2
    assert found.range == types.Range(types.Position(2, column), types.Position(2, column + len("num_io_proc")))


@pytest.mark.parametrize(
    ("name", "text", "wrong", "right"),
    [
        ("spec.yaml", SPEC, "output_intervl", "output_interval"),
        ("spec.yaml", SPEC, "num_io_proc", "num_io_procs"),
        ("spec.yaml", SPEC, "paralel", "parallel"),
        ("spec.yaml", SPEC, "levnte", "levante"),
        ("spec.yaml", SPEC, "icon/nh_dcmip_tc_5", "icon/nh_dcmip_tc_52"),
        ("nmlgen.toml", "select = ['RST']\n", "selct", "select"),
    ],
)
def test_a_word_that_is_no_word_is_one_key_away_from_the_one_that_was_meant(name, text, wrong, right, tmp_path):
    """Where nothing is mended by itself, too; it is the author who takes it, and the editor need not ask."""
    typed = text.replace(f"{right}", f"|{wrong}", 1)
    asked = Asked(tmp_path / name, typed)
    (action,) = actions_at(asked.analysis, types.Range(asked.position, asked.position), ["quickfix"], "utf-16")
    assert (action.title, action.is_preferred) == (f"write {right}", True)
    (edits,) = action.edit.changes.values()
    assert asked.applied(edits) == text


def test_what_is_marked_is_left_where_it_is_not_the_word(tmp_path):
    asked = Asked(tmp_path / "spec.yaml", SPEC.replace("site: levante", "site: |'levnte'"))
    assert actions_at(asked.analysis, types.Range(asked.position, asked.position), ["quickfix"], "utf-16") == []


def test_no_more_symbols_than_somebody_looks_through():
    documents = Documents()
    text = "#!/bin/bash\n#SBATCH -n 4\n" + "cat <<E\n&a\n/\nE\n" * 10_100
    found = symbols_of(documents.put("file:///tmp/a.sh", text, 1), "utf-16")
    assert len(found) == 10_000
    assert [child.name for child in found[-1].children] == ["&a"]


def test_edits_of_many_fixes_are_not_held_against_each_other(monkeypatch):
    compared: list[object] = []
    same = types.TextEdit.__eq__
    monkeypatch.setattr(types.TextEdit, "__eq__", lambda self, other: compared.append(other) or same(self, other))
    documents = Documents()
    text = "&run_nml\n" + " output = nml\n" * 60 + "/\n"
    document = documents.put("file:///tmp/NAMELIST_atm", text, 1)
    everywhere = types.Range(types.Position(0, 0), types.Position(62, 0))
    actions = actions_at(analyse(document, documents.files()), everywhere, None, "utf-16")
    edits = [edit for action in actions for edits in action.edit.changes.values() for edit in edits]
    assert len(edits) > 100
    assert not compared
