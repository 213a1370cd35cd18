"""Mending namelists: a fixed file is clean of what was fixed, and is otherwise the same to the last byte."""

from __future__ import annotations

import random
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools import require

import nmlgen
from nmlgen.errors import WriteError
from nmlgen.files import Files, decode, encode
from nmlgen.findings import Edit, Fix, _mistakes, did_you_mean, nearest
from nmlgen.fixing import _apply, _is_taken
from nmlgen.source import Source

CASES = [
    # code, is it safe, what stands there, what is to stand there
    ("NML001", False, "&paralel_nml\n nproma = 8\n/\n", "&parallel_nml\n nproma = 8\n/\n"),
    ("NML001", False, "&IO_NLM\n/\n", "&io_nml\n/\n"),
    ("NML001", True, "&JSB_veg_nml\n active = T\n/\n", "&lnd_veg_nml\n active = T\n/\n"),
    ("NML002", False, "&parallel_nml\n NUM_io_proc = 8\n/\n", "&parallel_nml\n num_io_procs = 8\n/\n"),
    ("NML003", True, "&run_nml\n nsteps = 3.\n/\n", "&run_nml\n nsteps = 3\n/\n"),
    ("NML003", True, "&run_nml\n nsteps = -1.2e1 /\n", "&run_nml\n nsteps = -12 /\n"),
    ("NML003", True, "&run_nml\n num_lev = 2*3., 4.0\n/\n", "&run_nml\n num_lev = 2*3, 4\n/\n"),
    ("NML003", True, "&run_nml\n nsteps = '3'\n/\n", "&run_nml\n nsteps = 3\n/\n"),
    ("NML003", True, "&run_nml\n nsteps = 3_i4\n/\n", "&run_nml\n nsteps = 3\n/\n"),
    ("NML003", True, "&run_nml\n dtime = 3.0_wp\n/\n", "&run_nml\n dtime = 3.0\n/\n"),
    ("NML003", True, '&run_nml\n dtime = "300."\n/\n', "&run_nml\n dtime = 300.\n/\n"),
    ("NML003", True, "&run_nml\n ltimer = '.TRUE.'\n/\n", "&run_nml\n ltimer = .TRUE.\n/\n"),
    ("NML003", True, "&run_nml\n output = totint\n/\n", "&run_nml\n output = 'totint'\n/\n"),
    ("NML003", True, "&io_nml\n output_nml_dict = 7up\n/\n", "&io_nml\n output_nml_dict = '7up'\n/\n"),
    ("NML011", True, "&run_nml\n output = nml ! new\n/\n", "&run_nml\n output = 'nml' ! new\n/\n"),
    ("NML003", True, "&run_nml\n output = 2*nml\n/\n", "&run_nml\n output = 2*'nml'\n/\n"),
    ("NML011", True, "&run_nml\n output = nml, none\n/\n", "&run_nml\n output = 'nml', 'none'\n/\n"),
    ("NML011", True, "&run_nml\n output = nml nsteps = 3 /\n", "&run_nml\n output = 'nml' nsteps = 3 /\n"),
    ("NML011", True, "&run_nml\n # new\n nsteps = 3 ## old\n/\n", "&run_nml\n ! new\n nsteps = 3 !# old\n/\n"),
    ("NML011", True, "&run_nml\n num_lev (1) = 3\n/\n", "&run_nml\n num_lev(1) = 3\n/\n"),
    ("NML011", True, "&run_nml\n nsteps = 3\n/", "&run_nml\n nsteps = 3\n/\n"),
    ("NML011", True, "&run_nml\r\n nsteps = 3\r\n/", "&run_nml\r\n nsteps = 3\r\n/\r\n"),
    ("NML011", False, "&run_nml\n nsteps = 3 ! a\n\n&io_nml\n/\n", "&run_nml\n nsteps = 3 ! a\n/\n\n&io_nml\n/\n"),
    ("NML011", False, "&run_nml\r\n nsteps = 3\r\n", "&run_nml\r\n nsteps = 3\r\n/\r\n"),
    ("NML011", False, "&run_nml\n nsteps = 3", "&run_nml\n nsteps = 3\n/\n"),
    ("NML011", False, "&run_nml", "&run_nml\n/\n"),
    ("NML012", False, " $run_nml\n nsteps = 3\n/\n", " &run_nml\n nsteps = 3\n/\n"),
    ("NML012", False, "& run_nml\n nsteps = 3\n/\n", "&run_nml\n nsteps = 3\n/\n"),
    ("SPC009", True, "&run_nml\n nsteps = 3 ! nmlgen: ignore[NML003] so\n/\n", "&run_nml\n nsteps = 3\n/\n"),
    ("SPC009", True, "! a\n ! nmlgen: ignore[NML003] so\n&run_nml\n/\n", "! a\n&run_nml\n/\n"),
]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "NAMELIST_atm"


def fix(path: Path, code: str = "ALL", **options) -> nmlgen.Fixed:
    return nmlgen.fix([path], select=[code], is_isolated=True, **options)


@pytest.mark.parametrize(("code", "is_safe", "before", "after"), CASES)
def test_fixed(code, is_safe, before, after, path):
    first, last = b"! Pr\xfcfung\n", b"! \xe2\x80\xa8end\x00\r\n" if before.endswith("/\n") else b""
    whole = first + before.encode() + last
    path.write_bytes(whole)
    if not is_safe:
        assert fix(path, code).count == 0
    fixed = fix(path, code, is_unsafe=not is_safe)
    assert fixed.count > 0
    assert [finding for finding in fixed.report.findings if finding.fix] == []
    assert path.read_bytes() == whole
    assert fixed.write() == (str(path),)
    assert path.read_bytes() == first + after.encode() + last
    assert [f.code for f in nmlgen.lint([path], select=[code], is_isolated=True).findings] == []


def test_every_fixable_code_has_a_case():
    fixable = {"NML001", "NML002", "NML003", "NML011", "NML012", "SPC009"}
    assert {code for code, *_ in CASES} == fixable
    assert {code for code, *_ in SCRIPT_CASES} == {*fixable, "SBA001", "SBA004", "SBA009"}


SCRIPT_CASES = [
    # code, is it safe, what stands in the script, what is to stand there
    ("NML001", False, "cat >>f <<EOF\n&paralel_nml\n/\nEOF", "cat >>f <<EOF\n&parallel_nml\n/\nEOF"),
    (
        "NML002",
        False,
        "cat >>f <<EOF\n&io_nml\n lkep_in_sync=T\n/\nEOF",
        "cat >>f <<EOF\n&io_nml\n lkeep_in_sync=T\n/\nEOF",
    ),
    ("NML002", False, "echo '&io_nml lkep_in_sync=T /' >>f", "echo '&io_nml lkeep_in_sync=T /' >>f"),
    ("NML003", True, "cat >>f <<EOF\n&run_nml\n nsteps = 3. /\nEOF", "cat >>f <<EOF\n&run_nml\n nsteps = 3 /\nEOF"),
    ("NML003", True, 'echo "&run_nml nsteps = 3. /" >>f', 'echo "&run_nml nsteps = 3 /" >>f'),
    (
        "NML003",
        True,
        "cat >>f <<'EOF'\n&run_nml\n output = totint\n/\nEOF",
        "cat >>f <<'EOF'\n&run_nml\n output = 'totint'\n/\nEOF",
    ),
    (
        "NML003",
        True,
        "\tcat >>f <<-EOF\n\t&run_nml\n\tnsteps = 3. /\n\tEOF",
        "\tcat >>f <<-EOF\n\t&run_nml\n\tnsteps = 3 /\n\tEOF",
    ),
    (
        "NML003",
        True,
        "cat >>f <<EOF\n&run_nml $(x)\n nsteps = 3., /\nEOF",
        "cat >>f <<EOF\n&run_nml $(x)\n nsteps = 3, /\nEOF",
    ),
    ("NML011", True, "cat >>f <<EOF\n&run_nml\n # new\n/\nEOF", "cat >>f <<EOF\n&run_nml\n ! new\n/\nEOF"),
    (
        "NML011",
        False,
        "cat >>f <<EOF\n&run_nml\n nsteps = 3\n&io_nml\n/\nEOF",
        "cat >>f <<EOF\n&run_nml\n nsteps = 3\n/\n&io_nml\n/\nEOF",
    ),
    ("NML012", False, "cat >>f <<'EOF'\n $run_nml\n/\nEOF", "cat >>f <<'EOF'\n &run_nml\n/\nEOF"),
    ("SPC009", True, "true # nmlgen: ignore[NML003] so", "true"),
    ("SPC009", True, "cat >>f <<EOF\n&io_nml\n! nmlgen: ignore[NML003] so\n/\nEOF", "cat >>f <<EOF\n&io_nml\n/\nEOF"),
    ("SBA001", False, "# SBATCH --nodes=2", "#SBATCH --nodes=2"),
    ("SBA001", False, "  #SBATCH --nodes=2", "#SBATCH --nodes=2"),
    ("SBA001", False, "#SBTACH --nodes=2", "#SBATCH --nodes=2"),
    ("SBA001", False, "#sbatch --nodes=2", "#SBATCH --nodes=2"),
    ("SBA004", True, "#SBATCH --nodes=2 --workdir=/x", "#SBATCH --nodes=2 --chdir=/x"),
    ("SBA004", False, "#SBATCH --patition=compute", "#SBATCH --partition=compute"),
    ("SBA009", False, "#SBATCH -J=a", "#SBATCH -J a"),
]
END = "\ncat >>f <<EOF\n&nonhydrostatic_nml\n/\nEOF\n"


@pytest.mark.parametrize(("code", "is_safe", "before", "after"), SCRIPT_CASES)
def test_fixed_in_a_script(code, is_safe, before, after, path):
    path = path.with_name("exp.run")
    whole = f"#!/bin/ksh\n# Pr\udcfcfung \u2028\n{before}{END}"
    path.write_bytes(encode(whole))
    if not is_safe:
        assert fix(path, code).count == 0
    fixed = fix(path, code, is_unsafe=not is_safe)
    assert fixed.count == 1
    fixed.write()
    assert path.read_bytes() == encode(whole.replace(before, after))
    assert [f.code for f in nmlgen.lint([path], select=[code], is_isolated=True).findings] == []


@pytest.mark.parametrize(
    "text",
    [
        "n=3.\ncat >f <<EOF\n&run_nml\n nsteps = ${n}\n/",
        "n=3\ncat >f <<EOF\n&run_nml\n nsteps = ${n}.\n/",
        "n=.\ncat >f <<EOF\n&run_nml\n nsteps = 3${n}\n/",
        "n=ltimr\ncat >f <<EOF\n&run_nml\n ${n} = T\n/",
        "n=mr\ncat >f <<EOF\n&run_nml\n lti${n} = T\n/",
        "n=io_nlm\ncat >f <<EOF\n&$n\n/",
        "cat >f <<EOF\n\\$run_nml\n/",
        "echo '&run_nml output = nml' >f\ncat >>f <<EOF\n/",
        "echo \\&run_nml nsteps = \\3. >f\ncat >>f <<EOF\n/",
    ],
)
def test_what_the_shell_puts_in_stays(text, path):
    path = path.with_name("exp.run")
    path.write_text(f"#!/bin/bash\n{text}\nEOF{END}")
    found = nmlgen.lint([path], select=["NML"], is_isolated=True).findings
    assert [finding.fix for finding in found] == [None]
    assert fix(path, is_unsafe=True).changes == {}


def test_a_script_with_other_line_ends(path):
    path = path.with_name("exp.run")
    text = b"n=1\r\ncat >f <<EOF\r\n&run_nml\r\n num_lev = 3.\r\n/\r\n&nonhydrostatic_nml\r\n/\r\nEOF\r\n"
    path.write_bytes(text)
    fixed = fix(path, "NML003")
    assert fixed.count == 1
    fixed.write()
    assert path.read_bytes() == text.replace(b"3.", b"3")


@pytest.mark.parametrize(
    "text",
    [
        "&run_nml\n nsteps = 3.5\n/\n",
        "&run_nml\n nsteps = 3.e30\n/\n",
        "&run_nml\n nsteps = nan\n/\n",
        "&run_nml\n nsteps = '3x'\n/\n",
        "&run_nml\n dtime = x_wp\n/\n",
        "&run_nml\n output = my file\n/\n",
        "&run_nml\n output = path/to\n/\n",
        "&run_nml\n output = 'nml\n/\n",
        "&run_nml\n output = a$b\n/\n",
        "&run_nml\n#ifdef X\n nsteps = 3\n#endif\n/\n",
        "&run_nml\n nsteps = #3\n/\n",
        "&parallel_nml\n num_io_proc = 8 num_io_procs = 4\n/\n",
        "&io_nml\n/\n&io_nlm\n/\n",
        "&run_nml\n bogus = 3\n/\n",
        "&bogus_nml\n/\n",
        "&run_nml\n output = 'a ! not closed\n nsteps = 3\n",
        "&run_nml\n x = 1, ! nmlgen: ignore[NML003] so\n/\n",
    ],
)
def test_what_is_not_clear_stays(text, path):
    path.write_text(text)
    found = nmlgen.lint([path], select=["NML", "SPC"], is_isolated=True).findings
    assert [finding.code for finding in found if finding.fix is None] != []
    assert fix(path, is_unsafe=True).changes == {}


def test_a_fix_may_bring_up_the_next_one(path):
    path.write_text("& run_nml\n nstep = 3.\n output = nml\n")
    fixed = fix(path, is_unsafe=True)
    assert fixed.count == 5
    assert [text for _, text in fixed.changes.values()] == ["&run_nml\n nsteps = 3\n output = 'nml'\n/\n"]


def test_no_mutation_is_mended_without_an_end(path):
    text = (
        "&run_nml\n num_lev = 30., 2*4\n output = 'nml', totint ! a\n ltimer = '.true.'\n/\n"
        "! nmlgen: ignore[NML003] so\n&io_nml\n restart_write_mode = sync\n dt_chekpoint = 3.0_wp\n/\n"
    )
    letters = ("", "'", '"', "&", "/", "=", ",", "*", "\n", "(", "!", " # ", "$", "\r\n", "_wp", "é", "\x85")
    generator = random.Random(1)
    for _ in range(60):
        mutant = text
        for _ in range(generator.choice((1, 2, 4))):
            place, length = generator.randrange(len(mutant)), generator.choice((0, 1, 5))
            mutant = mutant[:place] + generator.choice(letters) + mutant[place + length :]
        path.write_bytes(encode(mutant))
        fixed = fix(path, is_unsafe=True)
        assert [finding for finding in fixed.report.findings if finding.fix] == []
        fixed.write()
        assert fix(path, is_unsafe=True).changes == {}


def test_fixes_stop_at_what_is_excused_or_not_asked_for(path):
    path.write_text("&run_nml\n nsteps = 3. ! nmlgen: ignore[NML003] a test\n output = nml\n/\n")
    (changed,) = [text for _, text in fix(path).changes.values()]
    assert changed == path.read_text().replace("nml\n/", "'nml'\n/")
    assert fix(path, "NML003").changes == {}


def test_a_master_and_its_model_are_mended_together(tmp_path, monkeypatch):
    (tmp_path / "icon_master.namelist").write_text(
        "&master_nml\n lrestart = '.false.'\n/\n&master_model_nml\n model_type = 1.\n"
        ' model_namelist_filename = "NAMELIST_atm"\n/\n&master_time_control_nml\n/\n'
    )
    (tmp_path / "NAMELIST_atm").write_text("&run_nml\n nsteps = 3.\n/\n")
    monkeypatch.chdir(tmp_path)
    fixed = nmlgen.fix([".", "NAMELIST_atm", tmp_path / "NAMELIST_atm"], select=["NML003"], is_isolated=True)
    assert fixed.count == 3
    assert fixed.write() == ("NAMELIST_atm", "icon_master.namelist")
    assert (tmp_path / "NAMELIST_atm").read_text() == "&run_nml\n nsteps = 3\n/\n"


def test_permissions_and_links_stay(path):
    path.write_text("&run_nml\n nsteps = 3.\n/\n")
    path.chmod(0o750)
    link = path.with_name("link")
    link.symlink_to(path.name)
    fix(link, "NML003").write()
    assert link.is_symlink()
    assert path.read_text() == "&run_nml\n nsteps = 3\n/\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert sorted(found.name for found in path.parent.iterdir()) == ["NAMELIST_atm", "link"]


def test_a_file_that_somebody_changed_is_left_alone(path, tmp_path):
    other = tmp_path / "NAMELIST_oce"
    for file in (path, other):
        file.write_text("&run_nml\n nsteps = 3.\n/\n")
    fixed = nmlgen.fix([path, other], select=["NML003"], is_isolated=True)
    other.write_text("&run_nml\n nsteps = 4.\n/\n")
    with pytest.raises(WriteError, match="changed by someone else"):
        fixed.write()
    assert path.read_text() == "&run_nml\n nsteps = 3.\n/\n"


def test_the_diff_is_one_that_patch_takes(path, tmp_path):
    require("patch")
    before = b"&run_nml\r\n nsteps = 3. ! \xfc\x0c\n output = 'nml'\n/"
    path.write_bytes(before)
    fixed = fix(path)
    subprocess.run(["patch", "-s", "--binary", str(path)], input=encode(fixed.differences()), check=True)
    patched = path.read_bytes()
    assert patched == b"&run_nml\r\n nsteps = 3 ! \xfc\x0c\n output = 'nml'\n/\n"
    path.write_bytes(before)
    fixed.write()
    assert path.read_bytes() == patched


def test_fixes_that_touch_are_made_one_after_the_other(path):
    path.write_text("abcdef")
    files = Files()
    source = files.read(path)

    def replace(column: int, length: int, text: str) -> Edit:
        return Edit(source.span(1, column, length), text)

    texts: dict[Path, str] = {}
    fixes = [
        Fix("a", (replace(1, 1, "A"), replace(4, 1, "D"))),
        Fix("b", (replace(2, 1, "B"),)),  # touches the first one
        Fix("c", (replace(6, 1, "F"), replace(3, 2, "-"))),  # half of it does
        Fix("d", (Edit(Source("other", "abcdef").span(1, 6), "X"),)),  # not the file's own text
        Fix("e", (replace(7, 0, "!"),)),
    ]
    assert _apply(fixes, files, texts, (Path("/"),)) == 2
    assert texts == {path.resolve(): "AbcDef!"}


def test_lines_side_by_side_are_taken_away_at_once(path, monkeypatch):
    group = "&run_nml\n nsteps = 3\n/\n"
    path.write_text(group + "! nmlgen: ignore[NML012] why\n" * 64)
    passes = []
    judge = nmlgen.fixing.lint
    monkeypatch.setattr(nmlgen.fixing, "lint", lambda *given, **more: passes.append(1) or judge(*given, **more))
    fixed = nmlgen.fix([path], select=["SPC009"])
    assert (fixed.count, len(passes)) == (64, 2)
    assert [after for _, after in fixed.changes.values()] == [group]


def test_what_is_taken_away_beside_what_is_not():
    edits = [(2, 4, ""), (6, 8, "")]
    assert not _is_taken(edits, 4, 6, "")
    assert not _is_taken(edits, 0, 2, "")
    assert _is_taken(edits, 4, 6, "x")
    assert _is_taken(edits, 4, 4, "")
    assert _is_taken(edits, 3, 5, "")
    assert _is_taken([(2, 2, "")], 2, 4, "")
    assert _is_taken([(2, 4, "x")], 4, 6, "")
    assert not _is_taken([(2, 4, "x")], 5, 6, "")


def test_bytes_come_back():
    data = bytes(range(256)) + "ü\r\n\u2028".encode()
    assert encode(decode(data)) == data


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("num_io_proc", "num_io_procs"),
        ("num_oi_procs", "num_io_procs"),
        ("NUM_IO_PROCS", "num_io_procs"),
        ("num_xio_procs", None),  # as near to both
        ("nprma", "nproma"),
        ("nprm", None),
        ("something", None),
    ],
)
def test_nearest(word, meant):
    assert nearest(word, ["num_io_procs", "num_dio_procs", "nproma"]) == meant


def test_of_more_names_than_any_model_has_none_is_meant():
    names = [f"num_{number}" for number in range(5_000)]
    assert nearest("num_io_procs", [*names[1:], "num_oi_procs"]) == "num_oi_procs"
    assert did_you_mean("num_io_procs", [*names[1:], "num_oi_procs"])
    assert nearest("num_io_procs", [*names, "num_oi_procs"]) is None
    assert not did_you_mean("num_io_procs", [*names, "num_oi_procs"])


def test_of_a_long_text_nothing_else_was_meant():
    assert did_you_mean("a" * 999 + "b", ["a" * 1000])
    assert not did_you_mean("a" * 1000 + "b", ["a" * 1001])


WORDS = st.text("abc", max_size=7)


@given(WORDS, WORDS, st.integers(0, 3))
def test_mistakes_are_counted_as_in_the_whole_table(word, other, most):
    table = {(-1, j): j + 1 for j in range(-1, len(other))} | {(i, -1): i + 1 for i in range(len(word))}
    for i, letter in enumerate(word):
        for j, other_letter in enumerate(other):
            ways = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (letter != other_letter)]
            if i and j and word[i - 1 : i + 1] == other_letter + other[j - 1]:
                ways.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(ways)
    assert _mistakes(word, other, most) == min(table[len(word) - 1, len(other) - 1], most + 1)


def test_a_directory_is_mended_and_nothing_beside_it(tmp_path):
    text = "&run_nml\n nsteps = 3.\n/\n"
    for name in ("here/inside.nml", "outside.nml", "other.nml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "here" / "link.nml").symlink_to("../outside.nml")
    (tmp_path / "here" / "again.nml").symlink_to("inside.nml")
    fixed = nmlgen.fix([tmp_path / "here"], is_isolated=True)
    assert [path.name for path in fixed.changes] == ["inside.nml"]
    fixed = nmlgen.fix([tmp_path / "here", tmp_path / "here" / "link.nml"], is_isolated=True)
    assert [path.name for path in fixed.changes] == ["inside.nml", "outside.nml"]
