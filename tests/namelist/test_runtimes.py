"""What the Fortran runtimes were seen to do with the same texts, and what linting makes of it."""

from __future__ import annotations

from rows import rows

import nmlgen
from nmlgen.namelist.runtimes import READERS

HEAD = "&grid_nml\n dynamics_grid_filename = 'g.nc'\n/\n"

SEEN = {
    # kind: text in run_nml or output_nml; what gfortran 12 and flang 16 did with it in a READ
    "comment-for-value": ("&run_nml\n output = 'nml', ! first\n  'totint'\n/\n", "refused", "read"),
    "undelimited-text": ("&run_nml\n modelTimeStep = PT5M\n/\n", "refused", "read"),
    "undelimited-text ": ("&run_nml\n modelTimeStep = .true.\n/\n", "refused", "read"),
    "undelimited-word": ("&output_nml\n ml_varlist = u, so, to, w\n/\n", "refused", "read"),
    "undelimited-word ": ("&output_nml\n ml_varlist = to, so, 'u'\n/\n", "refused", "read"),
    "no-final-newline": ("&run_nml\n num_lev = 5\n/", "end of file", "read"),
    "wrong-type": ("&run_nml\n num_lev = 5.\n/\n", "refused", "refused"),
    "wrong-type ": ("&run_nml\n ltimer = 1\n/\n", "refused", "refused"),
    "too-many-values": ("&run_nml\n nsteps = 1, 2\n/\n", "refused", "refused"),
}


@rows("kind", SEEN)
@rows("fortran", [(), ("gfortran",), ("flang",), ("gfortran", "intel")])
def test_an_error_is_what_each_runtime_of_the_site_stops_at(kind, fortran, tmp_path):
    text, gfortran, flang = SEEN[kind]
    path = tmp_path / "NAMELIST_atm"
    path.write_text(HEAD + text)
    site = tmp_path / "here.yaml"
    said = f", fortran: [{', '.join(fortran)}]" if fortran else ""
    site.write_text(f"description: here\nmachine: {{scheduler: slurm, file_system: unknown{said}}}\n")
    report = nmlgen.lint([path], site=str(site), is_isolated=True, select=["NML003", "NML004", "NML011"])
    assert report.findings
    seen = {"gfortran": gfortran, "flang": flang}
    stops_all = flang != "read" or (bool(fortran) and all(seen.get(name, "read") != "read" for name in fortran))
    assert bool(report.errors) == stops_all
    if flang == "read":
        assert any("gfortran" in note and "flang" in note for note in report.findings[0].notes)


def test_who_stops_and_who_reads_are_others():
    for readers in READERS.values():
        assert readers.stop
        assert readers.read
        assert not set(readers.stop) & set(readers.read)


def test_without_a_runtime_nothing_is_certain():
    assert not READERS["comment-for-value"].stops_each(())
    assert READERS["comment-for-value"].stops_each(("gfortran",))
    assert not READERS["comment-for-value"].stops_each(("gfortran", "nec"))


@rows(("end", "fortran", "is_error"), [("&grid_nml", "", False), ("&grid_nml", "gfortran", True), ("", "nvhpc", True)])
def test_a_group_is_ended_by_the_next_one_in_some_runtimes(end, fortran, is_error, tmp_path):
    path = tmp_path / "NAMELIST_atm"
    path.write_text(f"&run_nml\n num_lev = 5\n{end}\n")
    site = tmp_path / "here.yaml"
    site.write_text(f"description: here\nmachine: {{scheduler: slurm, file_system: unknown, fortran: [{fortran}]}}\n")
    report = nmlgen.lint([path], site=str(site), is_isolated=True, select=["NML011"])
    assert bool([one for one in report.errors if one.span.line == 1]) == is_error
