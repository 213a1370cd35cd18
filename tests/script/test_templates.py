"""Templates that another program makes a script of."""

from __future__ import annotations

import pytest
from rows import rows

import nmlgen
from nmlgen.script import templates
from nmlgen.script.evaluate import evaluate
from nmlgen.script.parser import parse
from nmlgen.script.templates import includes, is_template, without_directives
from nmlgen.script.worlds import covering_worlds
from nmlgen.source import UNKNOWN, Source

ECFLOW = """\
#!/bin/ksh
%manual
 Mainframe: ecgate (family model)
 it's for people

%end
%include <head.h>
%include "../own.h"
%nopp
echo 100%
%end
member=%MEMBER:0%
cat > NAMELIST << EOF
&run_nml
 num_lev = %LEVELS%
 dtime = ${dtime}
/
EOF
%include <tail.h>
"""


def test_lines_of_ecflow_are_comments_at_the_same_places() -> None:
    text = without_directives(ECFLOW)
    assert len(text) == len(ECFLOW)
    assert [line for line in text.split("\n") if line and not line.startswith("#")] == [
        "echo 100%",
        *ECFLOW.split("\n")[11:-2],
    ]
    assert includes(ECFLOW)
    assert not parse(Source("model.ecf", ECFLOW)).problems


def test_what_ecflow_fills_in_is_unknown(tmp_path) -> None:
    script = tmp_path / "model.ecf"
    script.write_text(ECFLOW)
    report = nmlgen.lint([script], is_isolated=True)
    assert [finding.code for finding in report.errors] == []


@rows("mark", ["%RESTART%", "%RESTART:0%", "{{ restart }}", "@RESTART@", "{cfg.restart}"])
@rows("word", ["{}", "'{}'", '"{}"', "x{}", '"{}$HOME"'])
def test_a_branch_that_hangs_on_a_placeholder_is_open(mark: str, word: str) -> None:
    text = f"#!/bin/bash\nr={word.format(mark)}\nif [ {word.format(mark)} = 1 ]; then echo a > N; else echo b > N; fi\n"
    assert is_template(text)
    worlds = covering_worlds(evaluate(parse(Source("script", f"{text}echo $r > M\n"))))
    files = [{name: file.text for name, file in world.files.items()} for world in worlds]
    assert sorted(one["N"] for one in files) == ["a\n", "b\n"]
    assert all(UNKNOWN in one["M"] for one in files)


def test_what_a_script_fills_in_itself_is_known() -> None:
    text = 'echo "n = %LEVELS%" > N\nsed -i "s/%LEVELS%/90/" N\n'
    assert not is_template(text)
    assert not is_template('x=@NPROMA@\nsed \\\n  -e "s,@NPROMA@,16," N\n')
    assert is_template(f"{text}echo %MEMBER%\n")
    assert not is_template("sed s@GRID@$grid@ N\n")


def test_statements_of_jinja_are_no_commands() -> None:
    text = "{% for i in range(3) %}\nn={{ values[i] | default('x y') }}; m=1\n{% endfor %}\n"
    script = parse(Source("script", text))
    assert not script.problems
    assert len(script.body.commands) == 2
    text = "%{var}=%{context(var)}\ncp %{restart|replace('<time>', '${stamp}Z')} x%{id}\nn=%{JOB.tasks|d(0)}\n"
    script = parse(Source("run.tmpl", text))
    assert not script.problems
    assert len(script.body.commands) == 3
    script = parse(Source("run.jinja2", "{% if ((not a) or\n     (b and c)) %}\nx\n{% endif %}\n"))
    assert not script.problems
    assert len(script.body.commands) == 1
    assert without_directives("echo ${#a[@]} ${b#}") == "echo ${#a[@]} ${b#}"


def test_an_expression_of_simfactory_is_one_word() -> None:
    script = parse(Source("run.sub", 'run @("@ID@" != "" ? "-d (@ID@)" : "")@ x\n'))
    assert not script.problems
    assert [len(command.words) for command in script.body.commands] == [3]
    assert without_directives("a=@(b|c)@d.e") == "a=@(b|c)@d.e"


@pytest.mark.parametrize("text", ["date +%Y%m%d%H", "echo ${name%.*}", "f() { g; }", "mail a@b.de", "awk '{print $1}'"])
def test_what_is_no_template(text: str) -> None:
    assert not is_template(text)
    assert without_directives(text) == text


def test_of_very_many_places_not_each_is_looked_at(monkeypatch):
    looks = []
    own = templates._around
    monkeypatch.setattr(templates, "_around", lambda match: looks.append(match) or own(match))
    assert is_template("echo " + "%{a} " * 20_000)
    assert len(looks) <= 5_000
