"""From one release to a newer one: what does not hold there is found, and what means one thing is mended."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows

import nmlgen
from nmlgen import migrating
from nmlgen.errors import InputError
from nmlgen.lift import namelists, scripts
from nmlgen.models import wrf
from nmlgen.spec import coupling

NAMELIST = """&run_nml
 iforcing = 3
 ltransport = .TRUE.
 num_lev = 30
/
&grid_nml
 dynamics_grid_filename = 'a.nc'{grids}
/
&{group}
 {text}
/
"""


def migrated(tmp_path: Path, group: str, text: str, *, grids: str = "", old: str = "2024.10", new: str = "2025.10"):
    path = tmp_path / "NAMELIST_a"
    path.write_text(NAMELIST.format(group=group, text=text, grids=grids))
    found = nmlgen.migrate([path], to=new, icon_release=old, mends=True)
    found.fixed.write()
    rest = path.read_text().partition(f"&{group}\n")[2].rpartition("/\n")[0]
    return [(finding.code, finding.severity.value) for finding in found.report.findings], rest


@rows(
    ("group", "text", "expected"),
    [
        ("nwp_phy_nml", "lscale_cdnc = .TRUE.", " scale_cdnc_mode = 1\n"),
        ("nwp_phy_nml", "lscale_cdnc = .false. ! off", " ! off\n"),
        ("nwp_phy_nml", "lscale_cdnc = F", ""),
        ("nwp_phy_nml", "iprog_aero = 0, mu_rain = 0.5", " mu_rain = 0.5\n"),
        ("nwp_phy_nml", "IPROG_AERO = 1", " i2daero_dust = 1\n"),
        ("nwp_phy_nml", "iprog_aero=3", " i2daero_dust = 1, i2daero_seas = 1, i2daero_anthro = 1, i2daero_fire = 1\n"),
        ("nwp_phy_nml", "iprog_aero = 4", " iprog_aero = 4\n"),
        ("nwp_phy_nml", "lsbm_warm_full = .TRUE.", " lsbm_coupled = .TRUE.\n"),
        ("turbdiff_nml", "lexpcor = .FALSE.", ""),
        ("turbdiff_nml", "lexpcor = .TRUE.", " lexpcor = .TRUE.\n"),
    ],
)
def test_what_means_one_thing_is_mended(tmp_path, group, text, expected):
    findings, rest = migrated(tmp_path, group, text)
    if rest.strip() != text:
        assert rest == expected
        assert not [code for code, _ in findings if code.startswith(("NML", "MIG"))]
    else:
        assert ("NML002", "error") in findings


@pytest.mark.parametrize(
    ("group", "beside", "renamed"),
    [
        ("&jsb_veg_nml active = T, veg_bnf_scheme = 'fixed' /\n", "", True),
        ("&jsb_veg_nml active = T, bogus = 3 /\n", "", False),  # it would end the job in the new one
        ("&jsb_veg_nml active = T /\n", "&lnd_veg_nml /\n", False),  # there already
        ("&echam_cov_nml echam_cov_config(1)%csat = 1. /\n", "", False),
        ("&nh_pzlev_nml /\n", "", False),  # three variables are used instead
    ],
)
def test_a_group_gets_its_new_name(tmp_path, group, beside, renamed):
    path = tmp_path / "NAMELIST_lnd"
    path.write_text(group + beside)
    nmlgen.fix([path], select=["NML001"], icon_release="2025.10").write()
    assert path.read_text() == (group.replace("&jsb_", "&lnd_") if renamed else group) + beside


def test_a_group_that_stands_alone_is_there_to_be_read(tmp_path):
    path = tmp_path / "NAMELIST_a"
    path.write_text("&nwp_phy_nml\n lscale_cdnc = .TRUE.\n/\n")
    found = nmlgen.migrate([path], to="2025.10", icon_release="2024.10")
    assert [finding.code for finding in found.report.findings] == ["NML002"]
    nmlgen.migrate([path], to="2025.10", icon_release="2024.10", mends=True).fixed.write()
    assert path.read_text() == "&nwp_phy_nml\n scale_cdnc_mode = 1\n/\n"


@pytest.mark.parametrize(("beside", "expected"), [("iforcing = 3", ["NML002"]), ("iforcing = 0", []), ("", [])])
def test_a_group_beside_what_decides_is_read_as_that_says(tmp_path, beside, expected):
    path = tmp_path / "NAMELIST_a"
    path.write_text(f"&run_nml\n {beside}\n/\n&nwp_phy_nml\n lscale_cdnc = .TRUE.\n/\n")
    found = nmlgen.migrate([path], to="2025.10", icon_release="2024.10")
    assert [finding.code for finding in found.report.findings] == expected


def test_what_was_wrong_before_is_not_told(tmp_path):
    assert migrated(tmp_path, "nwp_phy_nml", "bogus = 1") == ([], " bogus = 1\n")
    assert migrated(tmp_path, "turbdiff_nml", "lexpcor = T", old="2025.04") == ([], " lexpcor = T\n")


def test_values_that_are_checked_now(tmp_path):
    findings, _ = migrated(tmp_path, "lnd_nml", "itype_interception = 2", new="2025.04")
    assert [severity for _, severity in findings] == ["error"]
    assert migrated(tmp_path, "lnd_nml", "itype_interception = 1", new="2025.04")[0] == []


@pytest.mark.parametrize(("grids", "expected"), [("", " lhn_coef = 0.5\n"), (", 'b.nc'", " lhn_coef = 10*0.5\n")])
def test_one_value_for_all_domains(tmp_path, grids, expected):
    findings, rest = migrated(tmp_path, "assimilation_nml", "lhn_coef = 0.5", grids=grids)
    assert rest == expected
    assert findings == ([("MIG001", "advice")] if not grids else [])


def test_a_type_that_changed_is_told(tmp_path):
    findings, rest = migrated(tmp_path, "limarea_nml", "dtime_latbc = 3600.", grids=", 'b.nc'")
    assert (findings, rest) == ([("MIG001", "advice")], " dtime_latbc = 3600.\n")


def test_a_release_that_nobody_says_is_the_one_that_finds_least(tmp_path):
    path = tmp_path / "NAMELIST_a"
    path.write_text(NAMELIST.format(group="turbdiff_nml", text="lexpcor = T", grids=""))
    found = nmlgen.migrate([path])
    assert (found.old, found.new) == (("2024.10",), "2025.10")
    assert [finding.code for finding in found.report.findings] == ["NML002"]


def test_of_a_long_text_the_beginning_says_the_release(tmp_path, monkeypatch):
    """Only two releases look at all of it: that one, and the newer one."""
    path, looked, seen = tmp_path / "NAMELIST_a", migrating.lint, []
    text = NAMELIST.format(group="turbdiff_nml", text="lexpcor = T", grids="")
    path.write_text(text + "! a comment\n" * 10_000 + "&nwp_phy_nml\n unknown = 1\n/\n")

    def counted(*given, files, **said):
        report = looked(*given, files=files, **said)
        seen.append(len(files.sources[path.resolve()].text) > 100_000)
        return report

    monkeypatch.setattr(migrating, "lint", counted)
    assert nmlgen.migrate([path]).old == ("2024.10",)
    assert sum(seen) == 2
    assert len(seen) > 3


def test_no_such_release(tmp_path):
    (tmp_path / "NAMELIST_a").write_text("&run_nml\n/\n")
    with pytest.raises(InputError, match=r"'1999\.01' is not known"):
        nmlgen.migrate([tmp_path / "NAMELIST_a"], to="1999.01")


def test_a_directory_is_looked_through(tmp_path):
    """Its namelists are judged for both releases, those that no script reads, too."""
    path = tmp_path / "NAMELIST_a"
    path.write_text("&run_nml\n iforcing = 3\n ltransport = .TRUE.\n/\n&nwp_phy_nml\n lscale_cdnc = .TRUE.\n/\n")
    for old in ("2024.10", None):
        one, all_ = (nmlgen.migrate([given], to="2025.10", icon_release=old) for given in (path, tmp_path))
        assert [finding.code for finding in all_.report.findings] == [finding.code for finding in one.report.findings]
        assert one.report.findings
    nmlgen.migrate([tmp_path], to="2025.10", icon_release="2024.10", mends=True).fixed.write()
    assert "scale_cdnc_mode = 1" in path.read_text()


@pytest.mark.parametrize("is_directory", [False, True])
def test_what_a_script_does_is_worked_out_few_times(tmp_path, monkeypatch, is_directory):
    path, known = tmp_path / "a.run", scripts.evaluate
    path.write_text("#!/bin/bash\ncat > NAMELIST_a << EOF\n&run_nml\n num_lev = 30\n/\nEOF\n")
    seen, parse, parsed = [], scripts.parse, []
    monkeypatch.setattr(scripts, "evaluate", lambda *given, **said: seen.append(given) or known(*given, **said))
    monkeypatch.setattr(scripts, "parse", lambda source: parsed.append(source) or parse(source))
    nmlgen.migrate([tmp_path if is_directory else path], to="2025.10")
    assert len(seen) <= 2
    assert len(parsed) == 1


@pytest.mark.parametrize("is_directory", [False, True])
def test_a_namelist_of_another_model_is_judged_once(tmp_path, monkeypatch, is_directory):
    """No release of ICON finds anything else in it."""
    path, judged, seen = tmp_path / "namelist.input", wrf.lint, []
    path.write_text("&time_control\n run_hour = 1\n/\n")
    monkeypatch.setattr(wrf, "lint", lambda *given: seen.append(1) or judged(*given))
    nmlgen.migrate([tmp_path if is_directory else path], to="2025.10")
    assert seen == [1]


def test_a_namelist_is_read_once_and_lifted_once_for_each_release(tmp_path, monkeypatch):
    path, read, lifted = tmp_path / "NAMELIST_a", namelists.read, namelists.lift_document
    path.write_text("&run_nml\n num_lev = 30\n/\n")
    seen, made = [], []
    monkeypatch.setattr(namelists, "read", lambda *given: seen.append(given) or read(*given))
    monkeypatch.setattr(namelists, "lift_document", lambda *given, **said: made.append(1) or lifted(*given, **said))
    nmlgen.migrate([path], to="2025.10", icon_release="2024.10")
    assert (len(seen), len(made)) == (1, 2)


def test_a_coupling_beside_a_master_is_read_once_for_all_releases(tmp_path, monkeypatch):

    read = []
    read_text = coupling.read_text
    monkeypatch.setattr(coupling, "read_text", lambda source, **how: read.append(source) or read_text(source, **how))
    (tmp_path / "icon_master.namelist").write_text(
        "&master_model_nml\n model_type = 1\n model_name = 'atm'\n model_namelist_filename = 'NAMELIST_atm'\n/\n"
    )
    (tmp_path / "NAMELIST_atm").write_text("&coupling_mode_nml\n coupled_to_ocean = .true.\n/\n")
    (tmp_path / "coupling.yaml").write_text("coupling: []\n")
    nmlgen.migrate([tmp_path], to="2025.10")
    assert len(read) == 1


def test_what_a_script_writes_is_read_once_and_lifted_once_for_each_release(tmp_path, monkeypatch):
    path, read, lifted = tmp_path / "a.run", namelists.read, namelists._group
    path.write_text("#!/bin/bash\ncat > NAMELIST_a << EOF\n&run_nml\n num_lev = 30\n/\nEOF\nsrun icon\n")
    seen, made = [], []
    monkeypatch.setattr(namelists, "read", lambda *given: seen.append(given) or read(*given))
    monkeypatch.setattr(namelists, "_group", lambda *given: made.append(1) or lifted(*given))
    nmlgen.migrate([path], to="2025.10", icon_release="2024.10")
    assert (len(seen), len(made)) == (1, 2)


def test_a_group_that_the_beginning_cuts_asks_no_other_release(tmp_path, monkeypatch):
    path, looked, seen = tmp_path / "NAMELIST_a", migrating.lint, []
    path.write_text("&assimilation_nml\n nlhn_start = 0\n/\n" + f"&lnd_nml\n zml_soil = {'0.1, ' * 24_000} 0.1\n/\n")
    monkeypatch.setattr(migrating, "lint", lambda *given, **said: seen.append(1) or looked(*given, **said))
    nmlgen.migrate([path], to="2025.10")
    assert len(seen) == 3


def test_what_nobody_wrote_by_hand_is_not_migrated(tmp_path):
    path = tmp_path / "NAMELIST_atm"
    path.write_text("&run_nml\n num_lev = 5\n/\n" + "! remark\n" * 30_000)
    for given in (path, tmp_path):
        with pytest.raises(nmlgen.InputError, match="NAMELIST_atm is larger than 256 KiB"):
            nmlgen.migrate([given])
