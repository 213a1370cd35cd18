"""#PBS lines as qsub of OpenPBS reads them, and those of others that say #PBS."""

from __future__ import annotations

import pytest
from rows import rows

import nmlgen
from nmlgen.schedulers.pbs.directives import PbsDirective, pbs_directives, read_pbs_directives
from nmlgen.schedulers.pbs.values import PbsValueError, check_option, check_resource, resources
from nmlgen.script.options import StaticWord
from nmlgen.source import Source, Span

UNKNOWN, MISSING, STRAY = "pbs-unknown-option", "pbs-wants-value", "pbs-stray-word"
BAD, RESOURCE, LATER, TEXT = "pbs-bad-value", "pbs-unknown-resource", "pbs-after-command", "pbs-not-expanded"


def read(*lines: str, first: str = "#!/bin/bash\n") -> list[tuple[str, str, bool]]:
    found = read_pbs_directives(Source("job.sh", first + "\n".join(lines) + "\ntrue\n"))
    return [(problem.kind, marked(problem.span), problem.stops) for problem in found]


def marked(span: Span) -> str:
    assert span.line == span.end_line
    return span.source.line(span.line)[span.column - 1 : span.end_column - 1]


@rows(
    "line",
    [
        "#PBS -l select=2:ncpus=4:mpiprocs=4:mem=4gb+1:ncpus=2",
        "#PBS -l select=1:node_type=rome:mpiprocs=128",
        "#PBS -l select=ncpus=6:mem=30g",
        "#PBS -l select=4",
        "#PBS -l place=vscatter:excl,select=1:ncpus=28:mem=30GB",
        "#PBS -l place=scatter            ",
        "#PBS -l nodes=1:ppn=2",
        "#PBS -l nodes=1:ppn=8:rhel7,mem=50gb",
        "#PBS -l walltime=24:0:0",
        "#PBS -l walltime=3600",
        "#PBS -l wd",
        "#PBS -l storage=gdata/w35",
        "#PBS -l select=2:ncpus=20:model=ivy:bigmem=False",
        "#PBS -l EC_total_tasks=96",
        "#PBS -lselect=1 -lwalltime=1:00:00 -N icon",
        "#PBS -koed",
        "#PBS -j oe",
        "#PBS -j n",
        "#PBS -m abe",
        "#PBS -m n",
        "#PBS -r n",
        "#PBS -W depend=afterok:123.server,umask=0027",
        "#PBS -W group_list=a",
        "#PBS -J 0-2",
        "#PBS -J 1-100:5%10",
        "#PBS -a 202611241200.30",
        "#PBS -p -1024",
        '#PBS -v "A=1,B=two words"',
        "#PBS -v NE=1,CPE=8",
        "#PBS -S /bin/bash",
        "#PBS -q gpu@server",
        "#PBS -zV",
        "#PBS",
        "   #PBS -N indented",
        "##PBS -Y switched off",
        "# PBS options: none",
        "#PBSPro -Y",
        "#PBS -N %TASK%",
        "#PBS -l walltime={{ time }}",
        "#PBS -o LOG.<test name>.run",
        "#PBS -l select=_NODES_:ncpus=_PTILE_:mem=500GB",
        "#PBS -l walltime=HH:MM:SS",
        "#PBS -J 1-NUMBER",
        "#PBS -l select=n_nodes:ncpus=n_cpus",
        "#PBS -N TODO_NAME/2",
        "#PBS -m EMAIL_WHEN",
        "#PBS -N #NAME#",
        "#PBS -l select=1:ncpus=2 \\\n  -N icon",
        "#PBS -N icon\n{% if walltime %}\n#PBS -l walltime={{ walltime }}\n{% endif %}",
    ],
)
def test_what_qsub_takes(line):
    assert read(line) == []


@rows(
    ("line", "text", "stops"),
    [
        ("#PBS -l walltime=totaltime:00:00", "totaltime:00:00", False),
        ("#PBS -l select=2:ncpus=four", "four", False),
        ("#PBS -J 1-last", "1-last", False),
        ("#PBS -l select=2:ncpus=4x", "4x", True),
        ("#PBS -l select=2:ncpus", "ncpus", True),
    ],
)
def test_a_word_where_a_number_has_to_be_may_be_filled_in(line, text, stops):
    assert read(line) == [(BAD, text, stops)]


@rows(
    ("line", "kind", "text"),
    [
        ("#PBS -l select=2:ncpuss=2", RESOURCE, "ncpuss"),
        ("#PBS -l waltime=1:00:00", RESOURCE, "waltime"),
        ("#PBS -l select=1:mem=4GiB", BAD, "4GiB"),
        ("#PBS -l mem=4.5gb", BAD, "4.5gb"),
        ("#PBS -l walltime=1:99:99:99", BAD, "1:99:99:99"),
        ("#PBS -l walltime=1h", BAD, "1h"),
        ("#PBS -l walltime=:30", BAD, ":30"),
        ("#PBS -l select=2:ncpus", BAD, "ncpus"),
        ("#PBS -l select=2ncpus=4", BAD, "2ncpus=4"),
        ("#PBS -l select=1:ncpus=4:walltime=1:00:00", BAD, "00:00"),
        ("#PBS -l select=2:ncpus=4+", BAD, "2:ncpus=4+"),
        ("#PBS -l place=SCATTERED", BAD, "SCATTERED"),
        ("#PBS -l place=scattered", BAD, "scattered"),
        ("#PBS -l place=pack:free", BAD, "free"),
        ("#PBS -l select=1,mem=4gb", BAD, "select=1,mem=4gb"),
        ("#PBS -l ,", BAD, ","),
        ("#PBS -j xx", BAD, "xx"),
        ("#PBS -m x", BAD, "x"),
        ("#PBS -m ABE", BAD, "ABE"),
        ("#PBS -k on", BAD, "on"),
        ("#PBS -r yes", BAD, "yes"),
        ("#PBS -J 5", BAD, "5"),
        ("#PBS -J 5-1", BAD, "5-1"),
        ("#PBS -a tomorrow", BAD, "tomorrow"),
        ("#PBS -p 1024", BAD, "1024"),
        ("#PBS -N my/job", BAD, "my/job"),
        ("#PBS -W depend=afterOK:1", BAD, "afterOK"),
        ("#PBS -W umask", BAD, "umask"),
        ("#PBS -Y", UNKNOWN, "-Y"),
        ("#PBS --walltime=1:00:00", UNKNOWN, "--walltime=1:00:00"),
        ("#PBS -r", MISSING, "-r"),
        ("#PBS -l ", MISSING, "-l"),
        ("#PBS -N icon # a remark", STRAY, "#"),
        ("#PBS walltime=1:00:00", STRAY, "walltime=1:00:00"),
        ("#PBS -N 'icon", STRAY, "'icon"),
    ],
)
def test_what_qsub_refuses(line, kind, text):
    assert read(line) == [(kind, text, True)]


def test_variables_are_not_expanded():
    assert read("#PBS -l walltime=$TIME") == [(TEXT, "walltime=$TIME", False)]
    assert read("#PBS -q ${queue}") == [(TEXT, "${queue}", False)]
    assert read("#PBS -o $HOME/icon.log", "#PBS -v HOME=$HOME") == []


def test_what_torque_takes_besides_is_no_error():
    assert read("#PBS -t 1-10") == [(UNKNOWN, "-t", False)]
    assert read("#PBS -d /scratch") == [(UNKNOWN, "-d", False)]
    assert read("#PBS -l nodes=1:ppn=2", "#PBS -l walltime=1:12:00:00") == [(BAD, "1:12:00:00", False)]
    assert read("#PBS -l nodes=1:ppn=2", "#PBS -l walltime=1:99:99:99") == [(BAD, "1:99:99:99", True)]
    assert read("#PBS -l nodes=1:ppn=2 # a remark") == [(STRAY, "#", False)]
    assert read("#PBS -r y # it may - of mine", "#PBS -E") == [(STRAY, "#", False), (UNKNOWN, "-E", False)]
    assert read("#PBS -N c=0.1") == [(BAD, "c=0.1", False)]
    assert read("#PBS -l nodes=1:ppn=2", "#PBS -N a/b") == [(BAD, "a/b", False)]


def test_what_somebody_fills_in_is_no_error():
    assert read("#PBS -l mem=xxxMEMxxxGB,walltime=xxxWTxxx") == []
    assert read("#PBS -P [project code]", "#PBS -N [job name]", "#PBS -l walltime=__walltime__:00:00") == []
    assert read("#PBS -l walltime=xTime:00:00") == []
    assert (MISSING, "-r", False) in read("#PBS -r", "#PBS -l select=")
    assert read("#PBS -o", "#PBS -j oe") == [(MISSING, "-o", False)]
    assert read("#PBS -q", "#PBS -A ") == [(MISSING, "-q", False), (MISSING, "-A", False)]
    assert read("#PBS -l select=1", "#PBS -N") == [(MISSING, "-N", False)]
    assert read("#PBS -M", "#PBS -l select=1") == [(MISSING, "-M", False)]


def test_a_remark_is_no_directive():
    assert read("#PBS PSH", "#PBS for clusters") == []
    assert [kind for kind, *_ in read("#PBS PSH", "#PBS -N a")] == [STRAY]


def test_those_of_a_template_are_no_errors():
    text = "#!/bin/bash\n#PBS -N #NAME\ntrue\n"
    found = [read_pbs_directives(Source(name, text)) for name in ("wps/job.sh", "wps/templates/job.sh")]
    assert [(problem.kind, problem.stops) for problems in found for problem in problems] == [(BAD, True), (BAD, False)]


@pytest.mark.parametrize(
    "line",
    [
        "#PBS -l elapstim_req=01:00:00",
        "#PBS -l cpunum_job=2 # cores",
        "#PBS --venode=${NE}",
        "#PBS --use-hca=2             # Number of HCA per logical host",
        "#PBS --venum-lhost=1",
        "#PBS -T necmpi           # necessary for parallel jobs",
        "#PBS -b 1",
        "#PBS -j o",
    ],
)
def test_nqsv_is_told_apart(line):
    assert read("#PBS -Y", line) == []
    assert read("#PBS -Y", "true", line) == []


def test_directives_end_at_the_first_command():
    assert read("cd run", "#PBS -Y") == []
    assert read("#PBS -N icon", "cd run", "#PBS -q long") == [(LATER, "#PBS -q long", False)]
    assert read(": a line of its own", "#PBS -Y") == [(UNKNOWN, "-Y", True)]
    assert read("", "# a remark", "#PBS -Y") == [(UNKNOWN, "-Y", True)]


def test_a_directive_goes_on_behind_a_backslash():
    assert read("#PBS -N icon \\", " -Y") == [(UNKNOWN, "-Y", True)]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("a\\ b c", ["a b", "c"]),
        ("'a b'\"c d\"e f", ["a bc de", "f"]),
        ("a\\\\b \\'c", ["a\\b", "'c"]),
        ("x" * 100_000 + " y", ["x" * 100_000, "y"]),
    ],
)
def test_words_of_a_directive(written, words):
    (directive,) = pbs_directives(Source("job.sh", f"#PBS {written}\n"))
    assert [word.text for word in directive.words] == words


def test_line_ends():
    found = read_pbs_directives(Source("job.sh", "#!/bin/bash\r\n#PBS -N icon\r\n"))
    assert [problem.kind for problem in found] == ["pbs-dos-line-end"]


@pytest.mark.parametrize(
    "text", ["#PBS", "#PBS -", "#PBS -l", "#PBS -l =", "#PBS -l select=", "#PBS \\", "#PBS '\\", "#PBS -N \\"]
)
def test_any_text_is_read(text):
    read(text)
    read_pbs_directives(Source("job.sh", text))


def test_values_of_many_digits():
    check_resource("select", f"{'9' * 5000}:ncpus={'9' * 5000}")
    with pytest.raises(PbsValueError):
        check_option("J", f"{'9' * 5000}-1")


def lint(tmp_path, text: str) -> list[tuple[str, str]]:
    (tmp_path / "job.sh").write_text(text)
    report = nmlgen.lint([tmp_path / "job.sh"], is_isolated=True)
    return [(finding.code, finding.severity.value) for finding in report.findings if finding.code.startswith("PBS")]


def test_lint_of_a_run_script(tmp_path):
    head = "#!/bin/bash\n#PBS -l select=2:ncpuss=64\n#PBS -l walltime=08:00:00\n"
    script = f"{head}cat > other.job <<EOF\n#PBS -Y\nEOF\n./icon\n"
    assert lint(tmp_path, script) == [("PBS003", "error")]
    assert lint(tmp_path, script.replace("ncpuss", "ncpus")) == []
    assert lint(tmp_path, script.replace("#PBS -l w", "#SBATCH --nodes=2\n#PBS -l w")) == []


def test_the_fix_writes_the_resource_that_is_meant():
    (problem,) = read_pbs_directives(Source("job.sh", "#PBS -l select=2:ncpuss=64\n"))
    assert [(edit.span.text, edit.replacement) for edit in problem.fix.edits] == [("ncpuss", "ncpus")]


def test_of_very_many_words_the_first_are_read():
    line = "#PBS" + " -q a" * 2_000
    assert read(line + " -V", line) == [("too-many-words", "a", False)]
    assert len(read("#PBS" + " --" * 6_000)) == 5_000


def test_a_part_of_a_long_value_is_not_looked_for():
    for count, is_part in ((3, True), (2_000, False)):
        value = ",".join(f"mem=v{number}x" for number in range(count))
        found = read_pbs_directives(Source("a.run", f"#!/bin/bash\n#PBS -l {value}\n"))
        assert len(found) == count
        assert (found[0].span.text == "v0x") is is_part


class Looked(str):
    """A text that counts the characters that somebody looks at."""

    looks = 0

    def __getitem__(self, place):
        found = super().__getitem__(place)
        Looked.looks += len(found)
        return found


def test_lines_that_go_on_are_each_looked_at_once(monkeypatch):
    monkeypatch.setattr(Looked, "looks", 0)
    found = pbs_directives(Source("a.run", "#!/bin/bash\n#PBS -N a \\ \n-q b \\\n-h\n#PBS -V\n"))
    assert [directive.lines for directive in found] == [(2, 4), (5, 5)]
    text = Looked("#!/bin/bash\n#PBS -N a\\\n" + "a\\\n" * 500)
    assert len(pbs_directives(Source("a.run", text))) == 1
    assert 0 < Looked.looks < 20 * len(text)


def test_many_switches_in_one_word(monkeypatch):
    monkeypatch.setattr(Looked, "looks", 0)
    word = StaticWord(Looked(f"-{'hz' * 1000}N"), Source("a", "b").span(1, 1))
    directive = PbsDirective((word, StaticWord("name", word.span)), word.span, None, (1, 1))
    given, strays = directive.options()
    assert [(one.letter, one.value and one.value.start) for one in given] == [("h", None), ("z", None), ("N", "name")]
    assert not strays
    assert 0 < Looked.looks < 3000


@pytest.mark.parametrize("value", ['a\\"', 'ncpus=4\\"', 'a\\"b,ncpus=4'])
def test_a_quote_that_the_value_does_not_close(value):
    assert [kind for kind, *_ in read(f"#PBS -l {value}")] == [BAD]


def test_a_long_value_with_a_quote_is_read_once():
    with pytest.raises(PbsValueError, match="each quote closed"):
        list(resources("a" * 200_000 + '"'))
    assert list(resources('a="x,y",b=\'"\',c')) == [("a", "x,y"), ("b", ""), ("c", "")]
