"""The records of what ran, and what two of them say was otherwise."""

from __future__ import annotations

from rows import rows

from nmlgen.logs.record import executable_of, ran_otherwise, records_of

RECORD = """\
leg 1
job 7
started 2026-01-01T00:00:00Z
launch srun --ntasks=4
module gcc/12
library /lib/libnetcdf.so.19
executable aaaaaaaaaaaaaaaa 100 /bin/icon
input bbbbbbbbbbbbbbbb 5 /data/a grid.nc
input ends:cccccccccccccccc 5000000000 /data/big.nc
exit 0
icon revision 1234
icon local branch main
"""


def write(home, name, text=RECORD):
    directory = home / "run" / "nmlgen.records"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(text)


def test_records_of_a_build_a_run_and_a_log(tmp_path):
    write(tmp_path, "1.7")
    write(tmp_path, "10.9")
    write(tmp_path, "2.8")
    write(tmp_path, "2.9", RECORD.replace("00:00:00Z", "01:00:00Z"))
    write(tmp_path, ".2.x")
    for place in (tmp_path, tmp_path / "run", tmp_path / "run" / "x.log"):
        records = records_of(place)
        assert [(record.leg, record.path.name) for record in records] == [(1, "1.7"), (2, "2.9"), (10, "10.9")]
    assert str(records[0].executable) == "/bin/icon (aaaaaaaaaaaa)"
    assert [str(file) for file in records[0].files("input")] == [
        "/data/a grid.nc (bbbbbbbbbbbb)",
        "/data/big.nc (ends:cccccccccccc)",
    ]
    assert executable_of(tmp_path / "run" / "x.log", 2).checksum == "aaaaaaaaaaaaaaaa"
    assert executable_of(tmp_path / "run" / "x.log", 3) is None
    assert records_of(tmp_path / "nowhere" / "x") == ()


@rows(
    ("old", "new", "expected"),
    [
        ("aaaaaaaaaaaaaaaa", "dddddddddddddddd", ["executable"]),
        ("/bin/icon", "/elsewhere/icon", []),
        ("/data/big.nc", "/other/big.nc", []),
        ("ends:cc", "ends:cd", ["input big.nc"]),
        ("revision 1234", "revision 5678", ["ICON's revision"]),
        ("module gcc/12", "module gcc/13", ["modules"]),
        ("libnetcdf.so.19", "libnetcdf.so.20", ["libraries"]),
        ("--ntasks=4", "--ntasks=8", ["launch"]),
        ("job 7", "job 8", []),
        ("executable aaaa", "nothing aaaa", ["executable"]),
    ],
)
def test_what_ran_otherwise(tmp_path, old, new, expected):
    write(tmp_path / "a", "1.7")
    write(tmp_path / "b", "1.8", RECORD.replace(old, new))
    left, right = records_of(tmp_path / "a"), records_of(tmp_path / "b")
    assert [one.what for one in ran_otherwise(left, right)] == expected
    assert ran_otherwise(left, ()) == ran_otherwise((), right) == ()
