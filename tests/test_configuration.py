"""The project's configuration: where it is found, what it says, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import nmlgen
from nmlgen import configuration
from nmlgen.codes import rule_names
from nmlgen.configuration import Configuration, Exemption, _places, find_configuration
from nmlgen.errors import InputError
from nmlgen.files import Files
from nmlgen.source import Source

BAD = "&run_nml\n num_lev = 3., 4\n ltimr = .true.\n/\n"
"""NML002 and NML003 are found in it."""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    for name in ("one", "two"):
        (tmp_path / "run" / f"NAMELIST_{name}").write_text(BAD)
    return tmp_path


def find(directory: Path) -> Configuration:
    return find_configuration(directory, rule_names(), Files())


def linted(*paths: str, **options) -> list[tuple[str, str]]:
    report = nmlgen.lint(paths, **options)
    return [(finding.code, finding.file) for finding in report.findings if finding.code[:3] in ("NML", "SPC")]


def test_the_nearest_one_counts(here):
    (here / "pyproject.toml").write_text('[tool.nmlgen]\nicon-release = "2024.01"\n')
    (here / "run" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert find(here / "run").icon_release == "2024.01"
    (here / "nmlgen.toml").write_text('icon-release = "2024.07"\n')
    assert find(here / "run").icon_release == "2024.07"
    (here / "run" / "pyproject.toml").write_text("[project]\nname = 1 ~\n")  # of something else, and no TOML
    assert find(here / "run").icon_release == "2024.07"
    (here / "run" / "pyproject.toml").write_text("[tool.nmlgen]\n")
    assert find(here / "run") == Configuration()
    assert find(here).icon_release == "2024.07"


def test_select(here):
    assert {code for code, _ in linted("run/NAMELIST_one")} == {"NML002", "NML003"}
    (here / "nmlgen.toml").write_text('select = ["NML002"]\n')
    assert linted("run/NAMELIST_one") == [("NML002", "run/NAMELIST_one")]
    assert linted("run/NAMELIST_one", select=["NML003"]) == [("NML003", "run/NAMELIST_one")]
    assert linted("run/NAMELIST_one", ignore=["NML002"]) == []
    assert len(linted("run/NAMELIST_one", is_isolated=True)) == 2


def test_the_site(here):
    (here / "nmlgen.toml").write_text('site = "levante"\n')
    assert find(here / "run").site == "levante"
    (here / "mine.yaml").write_text("description: mine\nmachine: {scheduler: slurm, file_system: local}\n")
    (here / "nmlgen.toml").write_text('site = "./mine.yaml"\n')
    assert find(here / "run").site == str(here / "mine.yaml")
    script = "#!/bin/bash\n#SBATCH --partition=nope\ncat > NAMELIST_x <<E\n&nwp_phy_nml\n/\nE\nsrun -n 4 ./icon\n"
    (here / "run" / "x.run").write_text(script)
    assert "SLM001" not in {finding.code for finding in nmlgen.lint(["run/x.run"]).findings}
    assert "SLM001" in {finding.code for finding in nmlgen.lint(["run/x.run"], site="levante").findings}


def test_the_profile(here):
    (here / "nmlgen.toml").write_text('[profile]\nno_of_nodes = "4"\nhost = ""\n')
    assert find(here).profile == (("no_of_nodes", "4"), ("host", ""))
    (here / "nmlgen.toml").unlink()
    (here / "pyproject.toml").write_text('[tool.nmlgen.profile]\nno_of_nodes = "4"\n')
    assert find(here).profile == (("no_of_nodes", "4"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[profile]\nnodes = 4\n", r'nmlgen.toml:2:1: "nodes" is a text in quotes'),
        ('[profile]\n"a-b" = "4"\n', r'nmlgen.toml:2:2: "a-b" is no name of a variable'),
        ('profile = ["a"]\n', r'nmlgen.toml:1:1: "profile" is a table of variables'),
    ],
)
def test_a_profile_that_is_none(text, message, here):
    (here / "nmlgen.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        find(here)


def test_the_release(here):
    (here / "run" / "NAMELIST_one").write_text("&nwp_phy_nml\n lsbm_warm_full = F\n/\n")
    (here / "nmlgen.toml").write_text('icon-release = "2024.10"\n')
    with pytest.raises(InputError):
        linted("run/NAMELIST_one", icon_release="1999.01")
    assert linted("run/NAMELIST_one") == linted("run/NAMELIST_one", icon_release="2024.10")


ENTRY = '[[ignore]]\nrule = "NML002"\npath = "{}"\nreason = "an old release"\n'


@pytest.mark.parametrize(
    ("path", "excused"),
    [
        ("run/NAMELIST_one", ["one"]),
        ("./run/NAMELIST_one", ["one"]),
        ("run/NAMELIST_*", ["one", "two"]),
        ("run/NAMELIST_???", ["one", "two"]),
        ("NAMELIST_one", ["one"]),
        ("*_two", ["two"]),
        ("**/NAMELIST_*", ["one", "two"]),
        ("run/**", ["one", "two"]),
        ("*/*_one", ["one"]),
        ("NAMELIST", []),
        ("*/NAMELIST", []),
        ("ru?NAMELIST_one", []),
        ("other/**", []),
    ],
)
def test_exemptions(path, excused, here):
    (here / "nmlgen.toml").write_text(ENTRY.format(path))
    report = nmlgen.lint(["run/NAMELIST_one", "run/NAMELIST_two"])
    assert [finding.file.removeprefix("run/NAMELIST_") for finding, _ in report.suppressed] == excused
    assert {reason for _, reason in report.suppressed} <= {"an old release"}
    assert "SPC009" not in [finding.code for finding in report.findings]


def test_an_exemption_without_a_path_holds_for_all(here):
    (here / "pyproject.toml").write_text('[[tool.nmlgen.ignore]]\nrule = "unknown-variable"\nreason = "so"\n')
    assert [code for code, _ in linted("run/NAMELIST_one", "run/NAMELIST_two")] == ["NML003", "NML003"]


def test_an_exemption_that_finds_nothing(here):
    (here / "run" / "NAMELIST_one").write_text("&run_nml\n num_lev = 3\n/\n")
    (here / "nmlgen.toml").write_text(ENTRY.format("run/NAMELIST_one"))
    (found,) = [finding for finding in nmlgen.lint(["run/NAMELIST_one"]).findings if finding.code == "SPC009"]
    assert (found.file, found.line, found.fix) == ("nmlgen.toml", 2, None)


def test_whether_it_finds_nothing_is_said_only_if_all_its_files_were_judged(here):
    (here / "run" / "NAMELIST_one").write_text("&run_nml\n num_lev = 3\n/\n")
    (here / "run" / "NAMELIST_two").write_text("&run_nml\n num_lev = 4\n/\n")
    (here / "nmlgen.toml").write_text(ENTRY.format("run/*"))
    assert linted("run/NAMELIST_one") == []
    assert linted("run/NAMELIST_one", "run/NAMELIST_two") == [("SPC009", "nmlgen.toml")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select = [\n", "nmlgen.toml"),
        ("select = " + "[" * 5000, "nmlgen.toml"),
        ("a = " + "9" * 5000 + "\n", "nmlgen.toml: a number has too many digits"),
        ("[x]\n" + "a." * 100_000 + "b = 1\n", "nmlgen.toml:2:1: a line with more than 500 dots is not read"),
        (f"a{'.a' * 490} = 1\n" * 200, "nmlgen.toml:103:1: more than 50000 dots are not read"),
        ("a = 1\nb = = 2\n", "nmlgen.toml:2:5: invalid value"),
        ('slect = ["RST"]\n', 'nmlgen.toml:1:1: there is no key "slect"; did you mean "select"?'),
        (
            "per-file-ignores = 1\n",
            'no key "per-file-ignores"; expected: one of icon-release, site, select, ignore, profile',
        ),
        ('\nselect = "RST"\n', 'nmlgen.toml:2:1: "select" is a list of rules'),
        ('select = ["RTS001"]\n', 'nmlgen.toml:1:1: there is no rule "RTS001"; did you mean "RST001"?'),
        ("select = [1]\n", '"select" is a list'),
        ("icon-release = 2024.10\n", 'nmlgen.toml:1:1: "icon-release" is a release or the path of a registry file'),
        ('site = "levnate"\n', 'nmlgen.toml:1:1: there is no site "levnate"; did you mean "levante"?'),
        ("site = 1\n", '"site" is the name of a site'),
        ('icon-release = "1999"\n', "nmlgen.toml:1:1: ICON release '1999' is not known; known are 2024.01"),
        ('icon-release = "./no.json"\n', "nmlgen.toml:1:1: no.json: no such file or directory"),
        ('ignore = ["RST"]\n', 'nmlgen.toml:1:1: "ignore" is written as [[ignore]], with a rule and a reason'),
        ("[ignore]\nrule = 1\n", '"ignore" is written as [[ignore]]'),
        ('[[ignore]]\nrule = "RST001"\n', 'nmlgen.toml:1:1: [[ignore]] needs a "reason"'),
        ('[[ignore]]\nreason = "so"\n', 'nmlgen.toml:1:1: [[ignore]] needs a "rule"'),
        ('[[ignore]]\nrule = "RST001"\nreason = " "\n', 'nmlgen.toml:3:1: "reason" is a text that is not empty'),
        (
            '[[ignore]]\nrule = "RST001"\nreason = "so"\n\n[[ignore]]\nrule = "PAR0001"\nreason = "so"\n',
            'nmlgen.toml:6:1: there is no rule "PAR0001"; did you mean "PAR001"?',
        ),
        ('[[ignore]]\nrule = "RST001"\nfile = "x"\n', 'nmlgen.toml:3:1: there is no key "file"; expected: one of rule'),
    ],
)
def test_refused(text, message, here):
    (here / "nmlgen.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        linted("run/NAMELIST_one")
    assert message in str(caught.value)


def test_places_in_a_project_file(here):
    (here / "pyproject.toml").write_text('[project]\nname = "x"\n\n[tool.nmlgen]\nselect = ["RST"]\nselct = 1\n')
    with pytest.raises(InputError, match=r'^pyproject\.toml:6:1: there is no key "selct"'):
        linted("run/NAMELIST_one")
    (here / "pyproject.toml").write_text("tool.nmlgen = 1\n")
    with pytest.raises(InputError, match=r"^pyproject\.toml:1:1: tool\.nmlgen is a table"):
        linted("run/NAMELIST_one")


def test_a_name_of_a_table_is_not_put_before_each_key():
    text = f"[{'a' * 10_000}]\n" + "".join(f"k{number} = 1\n" for number in range(1000))
    assert sum(len(name) for name, _ in _places(Source("nmlgen.toml", text))) < 20_000


def test_a_file_is_read_once_for_all_directories_below(here, monkeypatch):
    (here / "nmlgen.toml").write_text('icon-release = "2024.01"\n')
    for number in range(20):
        (here / f"run{number}").mkdir()
        (here / f"run{number}" / "NAMELIST_a").write_text(BAD)
    read = []
    load = configuration._load
    monkeypatch.setattr(configuration, "_load", lambda *given: read.append(1) or load(*given))
    assert linted(".")
    assert len(read) == 1


def test_many_exemptions_and_files(here, monkeypatch):
    for number in range(20):
        (here / "run" / f"NAMELIST_{number}").write_text(BAD)
    hashed = []
    monkeypatch.setattr(Exemption, "__hash__", lambda one: hashed.append(1) or 1)
    monkeypatch.setattr(configuration, "_MOST_HELD", 10_000)

    def exempt(form: str) -> None:
        entries = (f'[[ignore]]\nrule = "NML003"\npath = "{form}{number}"\nreason = "x"\n' for number in range(500))
        (here / "nmlgen.toml").write_text("".join(entries))

    for form in ("NAMELIST_", "run/NAMELIST_", "mistral/*"):
        exempt(form)
        assert linted("run")
    assert not hashed
    exempt("*_")
    with pytest.raises(InputError, match=r"nmlgen.toml:\d+:1: the paths of exemptions have too many wildcards"):
        linted("run")


def test_a_profile_of_very_many_variables(here):
    (here / "nmlgen.toml").write_text("[profile]\n" + "".join(f'a{number} = "1"\n' for number in range(1001)))
    with pytest.raises(InputError, match=r'nmlgen.toml:1:1: "profile" has more than 1000 variables'):
        find(here)


def test_a_configuration_that_cannot_be_read(here):
    (here / "nmlgen.toml").write_bytes(b'select = ["\xff"]\n')
    with pytest.raises(InputError, match=r"nmlgen\.toml"):
        linted("run/NAMELIST_one")


# --- Severities ---


def test_severities_are_the_projects(here):
    def severities() -> dict[str, str]:
        found = nmlgen.lint(["run/NAMELIST_one"], icon_release="2024.10", select=["NML"]).findings
        return {finding.code: finding.severity.value for finding in found}

    assert severities() == {"NML002": "error", "NML003": "error"}
    (here / "nmlgen.toml").write_text('[severity]\nNML = "warning"\nwrong-type = "advice"\n')
    assert severities() == {"NML002": "warning", "NML003": "advice"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('severity = "error"', '"severity" is a table of rules'),
        ('[severity]\nNML002 = "fatal"', "nmlgen.toml:2:1: expected: one of error, warning, advice"),
        ('[severity]\nNLM002 = "error"', 'nmlgen.toml:2:1: there is no rule "NLM002"'),
    ],
)
def test_severities_that_are_none(here, text, message):
    (here / "nmlgen.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        find(here)
    assert message in str(refused.value)
