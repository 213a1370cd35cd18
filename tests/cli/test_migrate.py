"""nmlgen migrate."""

from __future__ import annotations

import json

SPEC = """
namelists:
  run_nml: {iforcing: 3, ltransport: true}
  nwp_phy_nml:
    inwp_surface: 0
    iprog_aero: 2
  turbdiff_nml:
    lexpcor: false
    tkhmin: 0.5
"""


def test_a_spec(nmlgen, here):
    path = here / "spec.yaml"
    path.write_text(path.read_text().rstrip() + SPEC)
    before = nmlgen("migrate", "spec.yaml", "--to", "2025.10")
    assert before.code == 1
    assert before.out.endswith("from ICON 2024.10 to 2025.10: 2 errors\n")
    shown = nmlgen("migrate", "spec.yaml", "--diff")
    assert shown.code == 1
    assert "+    i2daero_dust: 1\n+    i2daero_seas: 1\n+    i2daero_anthro: 1\n" in shown.out
    assert "-    lexpcor: false\n     tkhmin: 0.5\n" in shown.out
    mended = nmlgen("migrate", "spec.yaml", "--fix")
    assert mended.code == 0
    assert "    i2daero_dust: 1\n    i2daero_seas: 1\n    i2daero_anthro: 1\n" in path.read_text()
    assert nmlgen("check", "spec.yaml", "--icon-release", "2025.10", "--quiet").out.count("NML002") == 0


def test_as_json(nmlgen, here):
    (here / "NAMELIST_a").write_text("&run_nml\n iforcing = 3\n/\n&nwp_phy_nml\n lscale_cdnc = .TRUE.\n/\n")
    done = nmlgen("migrate", "NAMELIST_a", "--icon-release", "2025.04", "--format", "json")
    document = json.loads(done.out)
    assert (done.code, document["from"], document["to"]) == (1, ["2025.04"], "2025.10")
    assert [finding["code"] for finding in document["findings"]] == ["NML002"]


def test_nothing_to_do(nmlgen, here):
    (here / "NAMELIST_a").write_text("&run_nml\n num_lev = 30\n/\n")
    done = nmlgen("migrate", "NAMELIST_a", "--icon-release", "2025.04")
    assert (done.code, done.out) == (0, "from ICON 2025.04 to 2025.10: no findings\n")
