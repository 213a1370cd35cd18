"""#SBATCH lines as sbatch reads them; tests/real/test_sbatch.py asks the real one."""

from __future__ import annotations

import re

import pytest
from rows import rows
from script.directive_cases import TAKEN, WRONG

from nmlgen.experiment.setting import Certainty, UndecidedError
from nmlgen.schedulers.slurm import directives
from nmlgen.schedulers.slurm import values as slurm_values
from nmlgen.schedulers.slurm.directives import Directives, read_directives
from nmlgen.schedulers.slurm.values import node_names
from nmlgen.script.options import StaticWord, read_options, slurm_options
from nmlgen.script.problems import CODES_OF_KINDS, PROBLEMS
from nmlgen.source import Source, Span, Stretches


def read(*lines: str, first: str = "#!/bin/bash\n") -> Directives:
    return read_directives(Source("job.sh", first + "\n".join(lines) + "\ntrue\n"))


def values(*lines: str) -> dict[str, object]:
    return {name: setting.value for name, setting in read(*lines).settings.items()}


def kinds(*lines: str) -> list[str]:
    return [problem.kind for problem in read(*lines).problems]


def marked(span: Span | None) -> str:
    assert span is not None
    assert span.line == span.end_line
    return span.source.line(span.line)[span.column - 1 : span.end_column - 1]


@rows(("line", "settings"), TAKEN)
def test_what_slurm_takes(line: str, settings: dict[str, object]) -> None:
    found = read(line)
    assert {name: setting.value for name, setting in found.settings.items()} == settings
    assert not found.problems


@rows(("lines", "kind", "text"), WRONG)
def test_what_goes_wrong(lines: str, kind: str, text: str) -> None:
    problems = read(lines).problems
    assert [problem.kind for problem in problems][-1:] == [kind]
    assert marked(problems[-1].span) == text


def test_every_kind_has_a_code() -> None:
    of_the_shell = {f"SHL00{number}" for number in (1, 2, 4, 5, 6)}
    assert set(CODES_OF_KINDS.values()) == set(PROBLEMS) - of_the_shell


def test_where_values_stand() -> None:
    found = read("#SBATCH --comment='a b' -N4", "#SBATCH --exclusive -J  x").settings
    assert {name: marked(setting.span) for name, setting in found.items()} == {
        "comment": "'a b'",
        "nodes": "4",
        "exclusive": "--exclusive",
        "job-name": "x",
    }
    assert marked(found["comment"].name_span) == "--comment"
    assert marked(found["nodes"].name_span) == "-N"
    assert found["comment"].name == "job.comment"


def test_the_last_one_holds() -> None:
    found = read("#SBATCH -N 2", "#SBATCH --nodes=3", "#SBATCH -N4")
    assert [origin.value for origin in found.settings["nodes"].history] == [2, 3, 4]
    assert found.settings["nodes"].value == 4
    assert [problem.message for problem in found.problems] == [
        "--nodes=2 has no effect: line 3 says --nodes=3",
        "--nodes=3 has no effect: line 4 says --nodes=4",
    ]
    assert read("#SBATCH -N 2", "#SBATCH -N 2").problems[0].message == "--nodes=2 is given again at line 3"
    assert not read("#SBATCH --exclusive", "#SBATCH --exclusive").problems


@rows(
    "when",
    [
        *("now", "NOW", "now+3hours", "now + 3 hour", "now-2days", "tomorrow", "noon", "noon tomorrow", "fika"),
        *("16:00", "4:30 PM", "2010-01-20", "2010-01-20T12:34:00", "0120", "012010", "01/20/30", "1/2", "1.2.30"),
        *("uts1700000000", "today-16:00", "T16:00"),
    ],
)
def test_times_of_slurm(when: str) -> None:
    assert values(f'#SBATCH --begin="{when}"') == {"begin": when}


@rows(
    "when",
    [
        *("", "bogus", "16", "25:00", "2010-1-20", "2010-13-20", "130", "120", "1300", "0132", "5/5/5", "t16:00"),
        *("uts3", "now+x", "now+hours", "now+3 hours x", "12:60", "\u0663:00"),
    ],
)
def test_what_is_no_time_to_slurm(when: str) -> None:
    assert kinds(f'#SBATCH --begin="{when}"') == ["bad-value"]


def test_mail_types_add_up() -> None:
    assert values("#SBATCH --mail-type=BEGIN", "#SBATCH --mail-type=END") == {"mail-type": "BEGIN,END"}
    assert not kinds("#SBATCH --mail-type=BEGIN", "#SBATCH --mail-type=END")


@pytest.mark.parametrize(
    ("types", "told"),
    [
        ("END,BOGUS", "sbatch skips BOGUS"),
        ("x,fail, END", "sbatch skips x,  END"),
        ("NONE,END", "with NONE nothing is mailed"),
        ("end,NONE", "with NONE nothing is mailed"),
    ],
)
def test_mail_types_that_nobody_heeds(types: str, told: str) -> None:
    """As Slurm 22.05 was seen to do: it says nothing of them."""
    (problem,) = read(f'#SBATCH --mail-type="{types}"').problems
    assert (problem.kind, problem.stops) == ("bad-value", False)
    assert problem.message.endswith(told)


@pytest.mark.parametrize("types", ["NONE", "END,,fail", "END,", "TIME_LIMIT_50,ARRAY_TASKS", "$TYPES,END"])
def test_mail_types_that_are_heeded(types: str) -> None:
    assert "bad-value" not in kinds(f'#SBATCH --mail-type="{types}"')


def test_an_option_takes_the_next_lines_word() -> None:
    assert values("#SBATCH --job-name # of no interest", "", "# nor this", "#SBATCH foo -N2") == {
        "job-name": "foo",
        "nodes": 2,
    }
    assert values("#SBATCH --job-name", "#SBATCH --nodes=2") == {"job-name": "--nodes=2"}


def test_refused_values_are_not_known() -> None:
    setting = read("#SBATCH --time=90s").settings["time"]
    assert setting.certainty is Certainty.UNKNOWN
    with pytest.raises(UndecidedError):
        _ = setting.value


def test_reading_goes_on_behind_a_stray_word() -> None:
    assert values("#SBATCH foo -N 2", "#SBATCH -J a") == {"nodes": 2, "job-name": "a"}


def test_directives_end_at_the_first_command() -> None:
    found = read("", " \t", "  # words", "#SBATCH -N 2", ": # x", "#SBATCH -N 3")
    assert found.settings["nodes"].value == 2
    assert "the first command stands at line 6" in found.problems[0].message


def test_lines_of_other_scripts() -> None:
    text = "#!/bin/bash\ncat >job <<END\n#SBATCH -N 2\nEND\n"
    body = (text.index("#SBATCH"), text.index("END\n", 30))
    assert not read_directives(Source("job.sh", text), [body]).problems
    assert read_directives(Source("job.sh", text)).problems


def test_lines_behind_commands_are_not_held_against_each_here_document(monkeypatch) -> None:
    held = []
    hold = Stretches.hold
    monkeypatch.setattr(Stretches, "hold", lambda stretches, *ends: held.append(ends) or hold(stretches, *ends))
    text = "#!/bin/bash\n#SBATCH -N 2\n" + "cat <<END\n#SBATCH -N 2\nEND\n#SBATCH -n 2\n" * 200
    ends = [match.end() for match in re.finditer("<<END\n", text)]
    found = read_directives(Source("job.sh", text), [(end, end + 13) for end in ends])
    assert (len(found.problems), len(held)) == (200, 400)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("#SBATCH -N 2\ntrue\n", "first-line"),
        ("\n#!/bin/bash\n#SBATCH -N 2\n", "first-line"),
        ("\ufeff#!/bin/bash\n#SBATCH -N 2\n", "first-line"),
        ("#!/bin/bash\r\n#SBATCH -N 2\r\n", "dos-line-end"),
        ("#!/bin/bash\n#SBATCH -N 2\ntrue\r\n", "dos-line-end"),
    ],
)
def test_scripts_that_are_refused_whole(text: str, kind: str) -> None:
    found = read_directives(Source("job.sh", text))
    assert [problem.kind for problem in found.problems] == [kind]
    assert found.settings["nodes"].value == 2


@pytest.mark.parametrize(
    ("command", "stops"),
    [
        ("true\n", True),
        ("", False),
        ("# The end.\n", False),
        ("#SBATCH -J {name}\ntrue\n", False),
        ("{exec_job}\n", False),
    ],
)
def test_directives_without_a_command_are_a_part_of_a_script(command: str, stops: bool) -> None:
    (problem,) = read_directives(Source("job.sh", f"#SBATCH -N 2\n{command}")).problems
    assert (problem.kind, problem.stops) == ("first-line", stops)


@pytest.mark.parametrize("text", ["", "\n", "#", "#SBATCH", "#!/bin/bash", "echo SBATCH\n", "#PBS -N a\n", "#BSUB"])
def test_scripts_that_are_not_for_slurm(text: str) -> None:
    found = read_directives(Source("job.sh", text))
    assert not found.settings
    assert [problem.kind for problem in found.problems] == (["first-line"] if text == "#SBATCH" else [])


def test_other_batch_systems_have_the_last_word() -> None:
    found = read("#SBATCH -J a -t 10 -A b", "#PBS -N x", "#PBS -l nodes=2:ppn=3").settings
    assert found["account"].value == "b"
    unknown = {name for name, setting in found.items() if setting.certainty is Certainty.UNKNOWN}
    assert {"job-name", "time", "ntasks", "nodes"} <= unknown
    assert read("#SBATCH -n 4", "#BSUB -n 8").settings["ntasks"].certainty is Certainty.UNKNOWN


def test_components_of_a_job_have_their_own() -> None:
    for word in ("hetjob", "packjob"):
        found = read("#SBATCH -N 1", f"#SBATCH {word}", "#SBATCH -N 2")
        assert all(setting.certainty is Certainty.UNKNOWN for setting in found.settings.values())
        assert "ntasks" in found.settings
        assert [part["nodes"].value for part in found.parts] == [1, 2]
    assert read("#SBATCH -N 1").parts == ()


def test_a_heterogeneous_job_is_no_array() -> None:
    assert [p.kind for p in read("#SBATCH -a 1-2", "#SBATCH hetjob", "#SBATCH -N 2").problems] == ["exclusive-options"]
    assert read("#SBATCH -N 1", "#SBATCH hetjob", "#SBATCH -N 2").problems == ()
    assert read("#SBATCH -a 1-2", "#SBATCH -N 2").problems == ()


@pytest.mark.parametrize(
    "options",
    [
        "--gpus=l40s:1 --gres=gpu:l40s:1",
        "--gpus=l40s:1 --gres=gpu:a100:1",
        "--gpus=1 --gres=gpu:1,tmp:v100:1",
        "--gpus=a100:1 --mem-per-gpu=1G --cpus-per-gpu=2",
        "--gpus=0 --gres=gpu:a100:1",
        "--gpus=1 --gres=gpu:a100:0",
        "--gpus=1 --gres=none",
        "--gpus=1 --gres=gpu:$TYPE:1",
        "--gpus=1 --gres=gpu:NGPUS",
        "--gpus={{ gpus }} --gres=gpu:a100:1",
    ],
)
def test_gpus_of_one_kind_are_asked_for(options: str) -> None:
    assert not [problem for problem in read(f"#SBATCH -J x {options}").problems if problem.stops]


def test_each_part_of_a_job_asks_for_its_own_gpus_but_for_memory_as_the_first() -> None:
    assert read("#SBATCH --gpus=1", "#SBATCH hetjob", "#SBATCH --gpus=a100:1").problems == ()
    found = read("#SBATCH --mem=1G", "#SBATCH hetjob", "#SBATCH --mem-per-cpu=1G").problems
    assert [problem.kind for problem in found] == ["memory-twice"]


@pytest.mark.parametrize("value", ["{{ nodes }}", "{cfg.nodes}", "__nodes__", "%(nodes)s", "%{nodes|int}", "@nodes@"])
def test_templates_are_not_judged(value: str) -> None:
    found = read(f"#SBATCH --nodes={value} -J x")
    assert not found.problems
    assert found.settings["nodes"].certainty is Certainty.UNKNOWN
    assert found.settings["job-name"].value == "x"


def test_an_expression_of_simfactory_is_no_stray_word() -> None:
    found = read('#SBATCH @("@ID@" != "" ? "-d afterany:@ID@" : "")@', "#SBATCH -N @NODES@ -J x")
    assert not found.problems
    assert found.settings["job-name"].value == "x"


@rows(
    ("option", "value"),
    [
        ("account", "<project code>"),
        ("account", "<------ Account String ----->"),
        ("time", "<%= resources$walltime %>"),
        ("array", "1-<UPDATE TO NUMBER OF SAMPLES>"),
        ("ntasks", "NTASKS"),
        ("ntasks", "_NTASKS_"),
        ("ntasks", "**FIXME**"),
        ("ntasks", "%(tasks)02d"),
        ("array", "_R_ARRAY_START_-_R_ARRAY_END_%300"),
        ("time", "##hours##:00:00"),
        ("time", "#####_hours"),
        ("time", "mywalltime"),
        ("nodes", "@[NODES]"),
        ("ntasks", "#tasks"),
        ("time", "HH:MM:SS"),
        ("ntasks", "%%ntasks%%"),
        ("array", "0-%%last_job%%%%%parallel_jobs%%"),
        ("cpus-per-task", "n_cpus"),
        ("ntasks-per-socket", "NTASKS"),
        ("cpus-per-gpu", "N_CPUS"),
        ("time", "d-hh:mm"),
        ("time", "..."),
        ("array", "1-N"),
        ("time", "%%time%%"),
        ("array", "0-NUM_JOBS%10"),
        ("begin", "YYYY-MM-DD"),
        ("array", "Indices_You_Want_e.g._1-100"),
        ("nodes", "XXXnodes"),
        ("nodes", "!TBG_nodes"),
        ("mem", "%s"),
        ("mem", "{}G"),
        ("ntasks", "{0}"),
    ],
)
def test_what_somebody_fills_in_is_not_judged(option: str, value: str) -> None:
    found = read(f"#SBATCH --{option}={value} -J x")
    assert not found.problems
    assert found.settings[option].certainty is Certainty.UNKNOWN
    assert found.settings["job-name"].value == "x"


@pytest.mark.parametrize(
    "form",
    [
        "#PROCS#",
        "#*FIXME*",
        "[your number]",
        "{Number of nodes}",
        "{ number }",
        "{1.your nodes}",
        "$PY_CODE_GEN N*2 - 1$",
    ],
)
def test_what_is_filled_in_may_have_blanks(form: str) -> None:
    found = read(f"#SBATCH -N {form} -J x")
    assert not found.problems
    assert found.settings["nodes"].certainty is Certainty.UNKNOWN
    assert found.settings["job-name"].value == "x"


@pytest.mark.parametrize("value", ["$N 3", "$N 3$4", "{ 1 2 }", "{1 2}"])
def test_what_has_blanks_and_is_not_filled_in(value: str) -> None:
    assert "stray-word" in kinds(f"#SBATCH -N {value}")


def test_what_is_yours_is_filled_in() -> None:
    assert "stray-word" not in kinds("#SBATCH --mail-user=YOUR EMAIL")
    assert "stray-word" in kinds("#SBATCH --mail-user=her email")
    assert kinds("#SBATCH -- insert your options here") == []
    assert "stray-word" in kinds("#SBATCH -- insert our options here")
    assert "bad-value" not in kinds("#SBATCH --array=1-#number of runs")
    assert "bad-value" in kinds("#SBATCH --array=1- #number of runs")
    assert kinds("#SBATCH ...", "#SBATCH -?? gpu") == []
    assert [problem.stops for problem in read("#SBATCH $mine").problems] == [False]
    assert kinds("#SBATCH XXXqueueXXX", "#SBATCH [other options]", "#SBATCH --mail-user=jane [at] doe.org") == []


def test_a_variable_that_the_script_never_sets_may_be_put_in() -> None:
    for command, stops in (("true", False), ("nodes=2", True)):
        (problem,) = read("#SBATCH --nodes=$nodes", command).problems
        assert (problem.kind, problem.stops) == ("bad-value", stops)


@rows(
    ("line", "stops"),
    [
        ("--nodes=numnodes", False),
        ("--ntasks-per-socket=...", False),
        ("-n?", False),
        ("--mem=nnGB", False),
        ("--time=hours:00:00", False),
        ("--array=0-last", False),
        ("--nodes=2,", True),
        ("--time=unlimitd", True),
        ("-nodes=2", True),
        ("--mail-type=sometimes", True),
    ],
)
def test_a_word_where_a_number_has_to_be_may_be_filled_in(line: str, stops: bool) -> None:
    (problem,) = read(f"#SBATCH {line}").problems
    assert (problem.kind, problem.stops) == ("bad-value", stops)


def test_what_a_swallowed_option_leaves_over_is_told_unless_that_is_refused() -> None:
    assert kinds("#SBATCH -p", "#SBATCH -n 1") == ["swallowed-option", "stray-word"]
    assert kinds("#SBATCH -t", "#SBATCH -A bb1234") == ["swallowed-option"]


def test_what_is_of_a_person_or_a_project_is_left_out_where_a_script_is_passed_on() -> None:
    assert [problem.stops for problem in read("#SBATCH -n 1", "#SBATCH -A ").problems] == [False]
    assert [problem.stops for problem in read("#SBATCH --account", "#SBATCH -n 1").problems] == [False, False]
    for option in ("-J", '-J ""', "--job-name", "-p", "--mail-user"):
        assert [problem.stops for problem in read("#SBATCH -n 1", f"#SBATCH {option}").problems] == [False], option
    assert [problem.stops for problem in read("#SBATCH -n 1", "#SBATCH --mem").problems] == [True]


def test_a_form_is_filled_in() -> None:
    assert [problem.stops for problem in read("#SBATCH --time=").problems] == [True]
    assert [problem.stops for problem in read("#SBATCH --time", "#SBATCH -A bb1234", "#SBATCH --mem").problems] == [
        False
    ] * 2
    assert [problem.stops for problem in read("#SBATCH --time=", "#SBATCH --mail-type=").problems] == [False, False]
    explained = read("#SBATCH --time=  # hours", "#SBATCH --gres=gpu:   # how many", "#SBATCH --mem= #").problems
    assert [(problem.kind, problem.stops) for problem in explained] == [("bad-value", False)] * 2


def test_what_stands_in_brackets() -> None:
    found = read("#SBATCH --mail-user=[your email] -J x")
    assert not found.problems
    assert found.settings["job-name"].value == "x"
    starred = read("#SBATCH --chdir=***your directory*** -J x", "#SBATCH -A **project id**")
    assert not starred.problems
    assert starred.settings["job-name"].value == "x"
    quoted = read('#SBATCH --comment="[two words] <a" -N 2 # b>').settings
    assert (quoted["comment"].value, quoted["nodes"].value) == ("[two words] <a", 2)


@pytest.mark.parametrize(
    ("line", "stops"),
    [
        ("--time=|hours|", False),
        ("--time=<<time>>", False),
        ("--nodes=!nodes!", False),
        ("--ntasks=*n*", False),
        ("-N 2 ??", False),
        ("-N 2 {one of them}", False),
        ("--time=1:2:3:4", True),
        ("--ntasks=2*24", True),
        ("--nodes=2 * 24", True),
        ("-N 2 hours", True),
    ],
)
def test_what_nobody_means_for_sbatch_is_of_a_template_or_a_form(line: str, stops: bool) -> None:
    problems = read(f"#SBATCH {line}").problems
    assert any(problem.stops for problem in problems) is stops


@pytest.mark.parametrize("value", ["MAX", "ALL", "four", "$N"])
def test_a_number_that_nobody_fills_in(value: str) -> None:
    assert kinds(f"#SBATCH --mem={value}") == ["bad-value"]


@pytest.mark.parametrize("name", ["job.sh", "job.slurm.tpl"])
@pytest.mark.parametrize(("written", "meant"), [("UNLIMTED", "UNLIMITED"), ("infinte", "INFINITE")])
def test_a_misspelt_word_is_no_placeholder(name: str, written: str, meant: str) -> None:
    (problem,) = read_directives(Source(name, f"#!/bin/bash\n#SBATCH --time={written}\n")).problems
    assert (problem.kind, problem.stops) == ("bad-value", name == "job.sh")
    assert problem.expected.endswith(f'; did you mean "{meant}"?')


@pytest.mark.parametrize(("name", "expected"), [("job.sh", ["bad-value"]), ("job.slurm.tpl", []), ("template.sh", [])])
def test_a_file_that_is_named_a_template_has_what_is_filled_in(name: str, expected: list[str]) -> None:
    text = "#!/bin/bash\n#SBATCH --nodes=$NODES\n"
    assert [problem.kind for problem in read_directives(Source(name, text)).problems] == expected
    problems = read_directives(Source(name, "#!/bin/bash\n#SBATCH --array=1;\n")).problems
    assert [problem.stops for problem in problems] == [name == "job.sh"]


@rows(
    ("option", "value"),
    [
        ("segment", "4"),
        ("tres-per-task", "cpu:4"),
        ("requeue", "expedite"),
        ("exclusive", "topo"),
        ("nodes", "1-15:4"),
        ("nodes", "2,4-8"),
    ],
)
def test_what_later_releases_take_is_taken(option: str, value: str) -> None:
    assert values(f"#SBATCH --{option}={value}") == {option: value}
    assert kinds(f"#SBATCH --{option}={value}") == []


def test_a_beginning_that_only_later_releases_find_ambiguous_is_taken() -> None:
    assert values("#SBATCH --res=mine") == {"reservation": "mine"}
    assert kinds("#SBATCH --res=mine") == []
    assert kinds("#SBATCH --c=1") == ["ambiguous-option"]


def test_a_synopsis_of_a_manual_is_a_form() -> None:
    assert kinds("#SBATCH --nice[=adjustment]", "#SBATCH --open-mode={append|truncate}") == []


def test_statements_of_a_template_are_no_commands() -> None:
    lines = "{% if target %}", "#SBATCH --nodes=2", "{% endif %}", "#SBATCH --ntasks=4"
    assert values(*lines) == {"nodes": 2, "ntasks": 4}
    assert kinds(*lines) == []
    assert not read(*lines, first="{% block header %}\n#!/bin/bash\n").problems
    assert kinds("{ true; }", *lines) == ["directive-after-command"] * 2


@pytest.mark.parametrize("option", ["--image", "--container-name", "--workdir"])
def test_a_word_behind_an_option_of_a_plug_in_is_its_value(option: str) -> None:
    assert "stray-word" not in kinds(f"#SBATCH {option} a -N 2")
    assert "stray-word" in kinds(f"#SBATCH {option}=b a -N 2")


@pytest.mark.parametrize("text", ["{% raw %}", "{{ 7 * 7 }}", "{{ a: 'b' # c }}"])
def test_what_looks_like_a_template_is_read_as_it_stands(text: str) -> None:
    found = read(f'#SBATCH --comment="{text}" -J x')
    assert found.settings["comment"].origin.value == text
    assert found.settings["job-name"].value == "x"
    cut = read(f"#SBATCH --requeue '' -J {text}").problems[0]
    assert cut.message == f'an empty word ends the line: "-J {text}" is not read'
    assert cut.span.end_column - cut.span.column == len(f"-J {text}")


@pytest.mark.parametrize("text", ["{a}", "{{ a }}", "<datetime>", "@A@", "{% raw %}"])
def test_what_may_be_filled_in_is_not_known_but_there(text: str) -> None:
    found = read(f"#SBATCH --uenv='{text}' --comment='{text}'").settings
    assert {name: setting.origin.value for name, setting in found.items()} == {"uenv": text, "comment": text}
    assert {setting.certainty for setting in found.values()} == {Certainty.UNKNOWN}
    assert kinds("#SBATCH --{a}=b --{{ a }} --<a>='b'") == []


def test_not_all_lines_for_others_are_told():
    assert len(kinds("#SBATCH -N 1", *["#PBS -l walltime=1:00:00"] * 1500)) == 1000


def test_of_very_many_words_the_first_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    words = 0

    def counted(text: str, at: int) -> tuple[str, int, str]:
        nonlocal words
        words += 1
        return argument(text, at)

    argument = directives._argument
    monkeypatch.setattr(directives, "_argument", counted)
    line = "#SBATCH" + " -n 4" * 2_000
    found = read(line + " -H", line)
    assert [problem.kind for problem in found.problems if problem.stops] == []
    assert "too-many-words" in [problem.kind for problem in found.problems]
    assert words == 5_001


def test_parts_of_a_job_are_read_up_to_a_number_as_words_are():
    found = read(f"#!/bin/bash\n#SBATCH -n1 {'hetjob ' * 9_000}\n")
    assert len(found.parts) <= 5_001
    assert [problem.kind for problem in found.problems].count("too-many-words") == 1


def test_mail_types_that_add_up_without_an_end_are_not_known():
    found = read("#!/bin/bash\n" + f"#SBATCH --mail-type={','.join(['END'] * 50)}\n" * 100)
    setting = found.settings["mail-type"]
    assert setting.certainty is Certainty.UNKNOWN
    assert max(len(str(origin.value)) for origin in setting.history) < 1_300


def test_a_list_of_nodes_is_not_made_that_names_very_many():
    assert node_names("n[1-3],m") == {"n1", "n2", "n3", "m"}
    assert node_names(",".join(["n[1-9000]"] * 3)) is None


def test_lists_of_nodes_that_are_too_long_are_not_written_out(monkeypatch):
    written = []
    numbers = slurm_values._numbers
    monkeypatch.setattr(slurm_values, "_numbers", lambda text: written.append(text) or numbers(text))
    for text in ("n[" + ",".join(["1-99999"] * 100) + "]", "n" + "[1-99999]" * 100, "n" + "[1]" * 300 + "[1-9999]"):
        assert node_names(text) is None
    assert node_names("n" * 300 + "[1-9999]") is None
    assert node_names("n[5-3][1-99999]") == set()
    assert not written
    assert node_names("n[1-10000]") == {f"n{number}" for number in range(1, 10_001)}


def test_lines_for_other_schedulers_take_what_is_known_once(monkeypatch):
    evolved = []
    evolve = directives.evolve
    monkeypatch.setattr(directives, "evolve", lambda *given, **more: evolved.append(1) or evolve(*given, **more))
    found = read_directives(Source("a", "#!/bin/bash\n#SBATCH -N 2\n" + "#PBS " + "-l " * 1000 + "\n#PBS -l a\n" * 50))
    assert found.settings["nodes"].certainty is Certainty.UNKNOWN
    assert len(evolved) < 100


def test_many_switches_in_one_word():
    found, _ = read_options([StaticWord(f"-{'H' * 1000}N2", Source("a", "b").span(1, 1))], slurm_options("sbatch"))
    assert [(one.written, one.value and one.value.start) for one in found] == [("-H", None), ("-N", "2")]
