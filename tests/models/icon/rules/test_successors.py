"""What is written in place of a name that is gone, in the author's own text."""

from __future__ import annotations

from pathlib import Path

from rows import rows
from rules.experiments import BASE, judge

from nmlgen.lift.namelists import lift_document
from nmlgen.models.icon.rules.namelists import UnknownVariable
from nmlgen.models.icon.rules.successors import successor
from nmlgen.namelist.reader import read
from nmlgen.namelist.registry import load_registry
from nmlgen.source import Source
from nmlgen.spec.spec import load_spec

REGISTRY = load_registry("2025.10")
ALL = ["i2daero_dust", "i2daero_seas", "i2daero_anthro", "i2daero_fire"]


def in_spec(text: str, tmp_path: Path) -> str | None:
    """The spec after its fix; None where there is none."""
    (tmp_path / "spec.yaml").write_text(text, encoding="utf-8")
    given = [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}", "model.release='2025.10'"]
    spec = load_spec(tmp_path / "spec.yaml", [*given, "namelists.run_nml.iforcing=3"])
    (finding,) = judge(spec.experiment, [UnknownVariable])
    if finding.fix is None:
        return None
    (edit,) = finding.fix.edits
    start, end = edit.span.offsets
    return text[:start] + edit.replacement + text[end:]


@rows(
    ("before", "after"),
    [
        ("{nwp_phy_nml: {lscale_cdnc: true}}", "{nwp_phy_nml: {scale_cdnc_mode: 1}}"),
        ("{nwp_phy_nml: {lscale_cdnc: false}}", None),  # in a flow nothing is taken away
        ("{nwp_phy_nml: {iprog_aero: 3}}", "{nwp_phy_nml: {" + ", ".join(f"{name}: 1" for name in ALL) + "}}"),
        ("\n  nwp_phy_nml: {iprog_aero: 1}", "\n  nwp_phy_nml: {i2daero_dust: 1}"),
        ("{nwp_phy_nml: {iprog_aero: 4}}", None),
        ("{nwp_phy_nml: {iprog_aero: [1, 1]}}", None),
        ("{nwp_phy_nml: {lsbm_warm_full: true}}", "{nwp_phy_nml: {lsbm_coupled: true}}"),
        ("\n  nwp_phy_nml:\n    iprog_aero: 1", "\n  nwp_phy_nml:\n    i2daero_dust: 1"),
        (
            "\n  nwp_phy_nml:\n    iprog_aero: 3\n    inwp_turb: 1",
            "\n  nwp_phy_nml:\n" + "".join(f"    {name}: 1\n" for name in ALL) + "    inwp_turb: 1",
        ),
        (
            "\n  nwp_phy_nml:\n    iprog_aero: 0\n    inwp_turb: 1",
            "\n  nwp_phy_nml:\n    inwp_turb: 1",
        ),
        (
            '\n  nwp_phy_nml:\n    "iprog_aero": 1\n    inwp_turb: 1',
            "\n  nwp_phy_nml:\n    i2daero_dust: 1\n    inwp_turb: 1",
        ),
        ("\n  ? nwp_phy_nml\n  : iprog_aero: 3", None),  # further lines would stand below the colon
        ("\n  nwp_phy_nml:\n    iprog_aero: 0 # none\n    inwp_turb: 1", None),  # something else is in the line
        ("\n  nwp_phy_nml: {inwp_turb: 1,\n    iprog_aero: 0\n    }", "\n  nwp_phy_nml: {inwp_turb: 1,\n    }"),
    ],
)
def test_specs(before: str, after: str | None, tmp_path: Path) -> None:
    found = in_spec(f"namelists: {before}\n", tmp_path)
    assert found == (None if after is None else f"namelists: {after}\n")


@rows(
    ("before", "after"),
    [
        ("iprog_aero = 1", "i2daero_dust = 1"),
        ("iprog_aero = 1, inwp_turb = 1", "i2daero_dust = 1, inwp_turb = 1"),
        ("iprog_aero = 3", ", ".join(f"{name} = 1" for name in ALL)),
        ("iprog_aero = 0", ""),
        ("iprog_aero = 0, inwp_turb = 1", "inwp_turb = 1"),
        ("iprog_aero = 0 ; inwp_turb = 1", "inwp_turb = 1"),
        ("inwp_turb = 1 iprog_aero = 0", "inwp_turb = 1"),
        ("\n iprog_aero = 0,\n inwp_turb = 1", "\n inwp_turb = 1"),
        ("\n iprog_aero = 0  \r\n inwp_turb = 1", "\n inwp_turb = 1"),
        ("iprog_aero = 1, 1", None),
        ("iprog_aero = 7", None),
    ],
)
def test_namelists(before: str, after: str | None) -> None:
    text = f"&nwp_phy_nml {before} /\n"
    (group,) = lift_document(read(Source("NAMELIST", text)), REGISTRY, is_master=False).groups
    setting = group.settings["iprog_aero"]
    fix = successor(setting, "nwp_phy_nml", REGISTRY.removed_variable("nwp_phy_nml", "iprog_aero"))
    if fix is None:
        assert after is None
        return
    (edit,) = fix.edits
    start, end = edit.span.offsets
    assert text[:start] + edit.replacement + text[end:] == f"&nwp_phy_nml {after}{'' if after == '' else ' '}/\n"
    assert fix.is_safe


def test_what_is_not_gone_has_no_successor() -> None:
    (group,) = lift_document(read(Source("NAMELIST", "&run_nml nsteps = 1 /\n")), REGISTRY, is_master=False).groups
    assert successor(group.settings["nsteps"], "run_nml", None) is None
