"""Volumes as tables, to the letter."""

from __future__ import annotations

from specs import load

from nmlgen.models.icon.volume import StreamVolume, Volume
from nmlgen.report.volume import VolumeReport, format_volumes, volume_document
from nmlgen.units.size import format_bytes

STREAM = load().experiment.components[0].streams[0]
ATM = StreamVolume(
    STREAM,
    "ml",
    1,
    55,
    Volume.exactly(254_280_168),
    Volume(1, 2, 3, ("estimated",)),
    records=1201,
    files=11,
    largest=121,
)
SEA = StreamVolume(STREAM, "pl", 1, 2, Volume(50, 100, 150, ("guessed",)), Volume.exactly(10), 10, 1, 10)


def test_one_stream() -> None:
    report = VolumeReport((ATM,), Volume(990, 1000, 1010, ("estimated",)), 4)
    assert format_volumes(report) == (
        "STREAM  LEVELS        VARIABLES  BYTES A STEP  SURE   LARGEST FILE  FILES  STEPS  RUN\n"
        "atm     ml, domain 1  55         254 280 168   exact  30.8 GB       11     1201   305.4 GB\n"
        "\n"
        "CHECKPOINT  SURE        FILES\n"
        "1.0 kB      within 1 %  4\n"
        "\n"
        "not exact: estimated"
    )


def test_several_streams_and_what_is_not_known() -> None:
    report = VolumeReport(
        (ATM, SEA),
        None,
        None,
        ("bogus",),
        {"grid_nml.dynamics_grid_filename": "grid_nml.dynamics_grid_filename is not known"},
    )
    assert format_volumes(report).splitlines()[2:] == [
        "atm     pl, domain 1  2          100           -50 % to +50 %  1.0 kB        1      10     1.0 kB",
        "all                                                                          12     1211   305.4 GB",
        "",
        "not known, because grid_nml.dynamics_grid_filename is not known",
        "not known to this release: bogus",
        "not exact: estimated",
        "not exact: guessed",
    ]


def test_document() -> None:
    document = volume_document(VolumeReport((ATM,), None, None))
    assert document["streams"][0]["step"] == {
        "low": 254_280_168,
        "best": 254_280_168,
        "high": 254_280_168,
        "sureness": "exact",
        "reasons": [],
    }
    assert document["streams"][0]["file"]["best"] == 121 * 254_280_168 + 2
    assert document["run"]["best"] == 1201 * 254_280_168 + 22
    assert document["checkpoint"] is None
    assert volume_document(VolumeReport(None, None, None))["streams"] is None


def test_bytes() -> None:
    assert [format_bytes(count) for count in (0, 999, 1000, 999_950, 254_280_168, 10**21)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.0 MB",
        "254.3 MB",
        "1000.0 EB",
    ]
    assert format_bytes(254_280_168, exactly=True) == "254 280 168"
