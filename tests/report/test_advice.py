"""Advice as text: bars for every terminal, and words that fit the numbers."""

from __future__ import annotations

import re
from pathlib import Path

import nmlgen
from nmlgen.report.advice import advice_document, format_advice, settings, shares, why

EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
BAD = ("parallel.num_io_procs=0", "restart.restart_write_mode=sync", "restart.checkpointTimeIntval=PT12M")


def advice(*overrides):
    return nmlgen.advice(EXAMPLE, overrides=overrides)


def test_bars_without_unicode_and_with_colour():
    found = advice(*BAD)
    plain = format_advice(found, "x", 100, unicode=False)
    assert plain.isascii()
    assert "# computing" in plain
    coloured = format_advice(found, "x", 100, unicode=False, colour=True)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    assert coloured != plain


def test_bars_fit_the_width():
    text = format_advice(advice(), "x", 100)
    rows = [line for line in text.splitlines() if "█" in line and "computing" not in line]
    assert rows
    assert max(map(len, rows)) <= 100


def test_the_present_layout_is_marked_with_what_else_differs():
    text = format_advice(advice(*BAD), "x", 120)
    assert "now, sync" in text
    assert "now, 0 I/O ranks" in text
    assert text.count("recommended ") == 3  # one in each chart and one below


def test_a_good_layout_has_nothing_to_set():
    found = advice()
    assert settings(found) == {}
    assert "Keep it" in format_advice(found, "x", 100)


def test_words_for_each_way_to_lose_time():
    sentences = " ".join(why(advice(*BAD)))
    assert "Without I/O ranks work rank 0 gathers and writes" in sentences
    assert "sync: rank 0 gathers and writes each checkpoint while all others wait" in sentences
    assert "There is no output" in " ".join(why(advice("output.atm=null")))


def test_shares_are_all_of_the_time():
    candidate = advice(*BAD).present
    assert abs(sum(shares(candidate).values()) - candidate.seconds) < 1e-6 * candidate.seconds


def test_document_names_the_streams():
    document = advice_document(advice(), "x")
    assert [output["name"] for output in document["outputs"]] == ["atm (ml)"]
    assert document["cost"]["seconds"] == 0


def test_stripes_are_spoken_of_where_the_experiment_has_some():
    found = nmlgen.advice(EXAMPLE, overrides=["lustre.output.stripe_count=4", "lustre.restart.stripe_count=1"])
    assert [(one.what, one.present, one.enough) for one in found.stripes] == [("output", 4, 1), ("restart", 1, 1)]
    said = [reason for reason in why(found) if reason.startswith("stripe_count")]
    assert said[0].startswith("stripe_count of output: 1 is enough, it is 4: one rank writes a file")
    assert said[1].startswith("stripe_count of restart: 1 is enough: ")
    assert advice_document(found, "x")["stripes"][0]["enough"] == 1
    everybody = nmlgen.advice(EXAMPLE, overrides=["parallel.pio_type=2", "lustre.output.stripe_count=4"])
    assert everybody.stripes[0].enough > 4
