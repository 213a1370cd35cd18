"""Which files linting looks at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nmlgen.errors import InputError
from nmlgen.files import Files
from nmlgen.lift.targets import is_binary, targets

NAMELIST = "&run_nml\n/\n"
HEREDOC = "cat >NAMELIST_atm <<EOF\n&run_nml\n/\nEOF\n"


def found(*paths: Path, **options) -> list[tuple[str, str]]:
    return [(target.path.name, target.kind) for target in targets(paths, Files(), **options)]


def write(directory: Path, *names: str, text: str | bytes = NAMELIST) -> None:
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_a_directory(tmp_path):
    write(tmp_path, "NAMELIST_atm", "z.nml", "icon_master.namelist", "b/jsbach.namelist", "README", "notes.yaml")
    write(tmp_path, "job", text="#!/bin/ksh\n")
    write(tmp_path, "exp.atm", "b/c/x.run", text="echo\n")
    write(tmp_path, "md.run", text="cat >in <<EOF\npair_style lj/cut 2.5\nEOF\n")
    write(tmp_path, "fragment", "README.md", "exp.tmpl", "program.py", text=HEREDOC)
    write(tmp_path, "tool", text="#!/usr/bin/env python3\n")
    write(tmp_path, "2b_README.sh", text="see (below)\n")
    write(tmp_path, "main.nf", "plot.gs", "configure", "ltmain.sh", text="#!/bin/bash\n")
    write(tmp_path, "parameters.cmd", text="/* of a\n program */\n")
    write(tmp_path, "of_fortran.cmd", text="C sizes\n      PARAMETER (NX = 4)\n      COMMON /A/ X(NX)\n")
    write(tmp_path, "of_csh.job", text="#\n# days\nforeach day (1 2)\ncat << EOF\n$day\nEOF\nend\n")
    write(tmp_path, "data", "data.pkg", "b/data.run", text="#!sh sizes\n# of mine\n &PARM01\n # none\n n=1,\n &\n")
    write(tmp_path, "of_cmake.sh", text='# a machine\nSET(USE_QUEUING FALSE CACHE BOOL "")\n')
    write(tmp_path, "of_perl", text='@files=("a");\n$text = <<EOF;\n&lmgrid\n/\nEOF\n')
    write(tmp_path, "in.run", text="units lj\nvariable x equal 0.5*(${a}+1)\n")
    write(tmp_path, "python.sh", text="import os\n\ndef main():\n    os.mkdir('a')\n")
    write(tmp_path, "plot.sh", text="plot 'log' u (($1-1)/2):(-$2)\nset xrange [0:4]\n")
    write(tmp_path, "plot.gnu", text="#!/bin/bash/gnuplot\nf(x)=x\n")
    write(tmp_path, "_readme_of_x.sh", "papi.readme", text="#!/bin/sh\nsee (below)\n")
    write(tmp_path, "b/my.config", text="[namelists]\n  [[NAMELIST_atm]]\n")
    write(tmp_path, "b/other.config", text="x = 1\n")
    assert found(tmp_path) == [
        ("exp.atm", "script"),
        ("fragment", "script"),
        ("job", "script"),
        ("md.run", "script"),
        ("x.run", "script"),
        ("icon_master.namelist", "namelist"),
        ("NAMELIST_atm", "namelist"),
        ("z.nml", "namelist"),
        ("jsbach.namelist", "namelist"),
        ("my.config", "config"),
    ]


def test_what_is_given_by_name(tmp_path):
    """FESOM calls a namelist so, and `lint *` takes what is no text, too."""
    write(tmp_path, "namelist.config", text="! of a model\n&clockinit\n/\n")
    write(tmp_path, "slurm.png", text=bytes(range(256)))
    assert found(tmp_path / "namelist.config") == [("namelist.config", "namelist")]
    with pytest.raises(InputError, match="is binary"):
        found(tmp_path / "slurm.png")


def test_what_tests_compare_with_is_passed_over(tmp_path):
    write(tmp_path, "job", "tests/fixtures/a.sh", "tests/TestData/b/c.sh", "tests/d.sh", text="#!/bin/bash\n")
    assert found(tmp_path) == [("job", "script"), ("d.sh", "script")]
    assert found(tmp_path / "tests" / "fixtures") == [("a.sh", "script")]


def test_the_log_of_a_job_is_no_script(tmp_path):
    write(tmp_path, "job", "slurm-1.out", text="#!/bin/bash\n")
    assert found(tmp_path) == [("job", "script")]
    with pytest.raises(InputError, match="the log of a job"):
        found(tmp_path / "slurm-1.out")


def test_what_is_skipped(tmp_path):
    write(tmp_path, "NAMELIST_atm", ".hidden.nml", ".git/NAMELIST_x", "b/.c/d.nml")
    write(tmp_path, "exp.nc", text=b"CDF\x01" + b"\0" * 100)
    write(tmp_path, "exp.huge", text=b"#" * (5 * 1024 * 1024))
    (tmp_path / "b" / "back").symlink_to(tmp_path)
    (tmp_path / "again.nml").symlink_to(tmp_path / "NAMELIST_atm")
    (tmp_path / "gone.nml").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.nml")
    assert len(found(tmp_path)) == 1


def test_what_only_looks_like_a_script_is_none(tmp_path):
    """Programs with `<<` and `&name`, and what make reads."""
    program = "std::cout << text\n    << (a\n    &other);\nint exp(int x) { return x; }\n"
    write(tmp_path, "NAMELIST_atm")
    write(tmp_path, "a.hpp", "b.cu", "exp.hip", "ametsoc.perl", "page", "notes.pdf", text=program)
    write(tmp_path, "Makefile", "makefile.gnu", "rules.mk", "win_makefile", text="#!/bin/sh\nall:\n\tcc $<\n")
    write(
        tmp_path,
        "README.namelist",
        "run/readme.nml",
        "examples.namelist",
        text="&physics\n mp_physics (max_dom) = 1 ! or\n/\n",
    )
    write(tmp_path, "set.cmd", text="@echo off\r\nset A=1\r\n")
    write(tmp_path, "other", text="cat >NAMELIST_atm <<EOF\nEOF\n&run_nml\n/\nEND\n")
    assert found(tmp_path) == [("NAMELIST_atm", "namelist")]
    write(tmp_path, "fragment", text="cat >NAMELIST_atm <<-'END'\n\t&run_nml\n\t/\n\tEND \n")
    assert found(tmp_path)[0] == ("fragment", "script")


def test_a_batch_script_is_known_by_its_directives(tmp_path):
    write(tmp_path, "a.pbs", text="# of mine\n\n#PBS -N a\nmpirun a\n")
    write(tmp_path, "b.sl", text="#SBATCH -N 2\nsrun a\n")
    write(tmp_path, "c", text="# One has to write\n\n    #SBATCH -N 2\nor\n#SBATCH -N 4\n")
    write(tmp_path, "d.pbs", text="#!/bin/csh\n#PBS -N a\nsetenv A 1\n")
    write(tmp_path, "e.csh", "f", text="#!/bin/tcsh\nsetenv A 1\n#SBATCH -N 2\n")
    write(tmp_path, "g.py", text="#!/usr/bin/env python3\n#SBATCH -N 2\nimport os\n")
    expected = [("a.pbs", "script"), ("b.sl", "script"), ("d.pbs", "script")]
    assert found(tmp_path) == expected
    assert found(tmp_path / "b.sl") == [("b.sl", "script")]
    assert found(tmp_path / "g.py") == [("g.py", "script")]  # among others its name says what it is


def test_a_script_that_is_called_as_the_namelist_that_it_writes(tmp_path):
    write(tmp_path, "namelist.input.sh", "run_p3d", text="#!/bin/bash\ncat >namelist.input <<EOF\n&domains\n/\nEOF\n")
    write(tmp_path, "namelist.input.py", text="#!/usr/bin/env python3\nprint('&domains /')\n")
    expected = [("namelist.input.sh", "script"), ("run_p3d", "script")]
    assert found(tmp_path) == found(*sorted(tmp_path.glob("*[hd]"))) == expected


def test_what_a_merge_leaves_behind_is_passed_over(tmp_path):
    write(tmp_path, "job.sh", "job.sh.orig", "job.sh.rej", text="#!/bin/sh\n#SBATCH -N 2\n")
    assert found(tmp_path) == [("job.sh", "script")]
    assert found(tmp_path / "job.sh.orig") == [("job.sh.orig", "script")]


@pytest.mark.parametrize(
    "text",
    [
        "PREDEFINED = A \\\n             B\n",
        "process {\n  cpus = 4\n}\n",
        "process {\r\n  cpus = 4\r\n}\r\n",
        "params.a = 1\nincludeConfig 'b.config'\n",
        "# of mine\n<startup>\n  <of version='4' />\n</startup>\n",
        "link a.config\n",
        "a='b'\nif [ $a = b ];then\n  c=1\nfi\n",
        "a = b\nifeq ($(a),b)\n  c = 1\nendif\n",
        "a = b\nifndef c\n  c = 1\nendif\n",
        "b = 1\na := $(b)\n",
    ],
)
def test_the_configuration_of_another_program_is_refused(text, tmp_path):
    write(tmp_path, "dox.config", text=text)
    with pytest.raises(InputError, match="is the configuration of another program"):
        found(tmp_path / "dox.config")


@pytest.mark.parametrize("name", ["README.config", "README.namelist", "examples.namelist"])
def test_a_text_for_people_is_refused(name, tmp_path):
    write(tmp_path, name, text="This is how:\n&physics\n mp_physics (max_dom) = 1 ! or\n/\n")
    with pytest.raises(InputError, match="is a text for people"):
        found(tmp_path / name)


def test_a_namelist_that_an_editor_shows_as_a_script_is_one(tmp_path):
    """MITgcm's, in which a remark begins with #."""
    write(tmp_path, "data", text='#!/bin/bash a "data" file\n &PARM01\n n=1,\n /\n')
    assert found(tmp_path / "data") == [("data", "namelist")]
    write(tmp_path, "job", text="#!/bin/bash\n#\nsrun a &\n")
    assert found(tmp_path / "job") == [("job", "script")]


def test_texts_of_other_programs_are_no_scripts(tmp_path):
    """A plot, a workflow of Snakemake, and what cloud-init is given."""
    write(tmp_path, "plot.cmd", text=" set yrange [0:]\n  plot 'a.dat' using ($2):($3) with lines\n")
    write(tmp_path, "a.sh", text="# of mine\n\ndef parts(of):\n    return of.all\n\nrule split:\n    input: parts\n")
    write(tmp_path, "a.sm", "b.smk", text="rule of:\n    shell: r\ncat <<E >NAMELIST_atm\n&run_nml\n/\nE\n")
    text = "MIME-Version: 1.0\n\n--a--\n#!/bin/bash\n#SBATCH -N 2\nls\n--a--\nrun:\n  - if true; then ls; fi\n"
    write(tmp_path, "b.sh", text=f'Content-Type: multipart/mixed; boundary="a"\n{text}')
    write(tmp_path, "c.sh", text=text)
    write(tmp_path, "d.sh", text="cat <<E | gnuplot\n set yrange [0:]\n plot 'a'\nE\n")
    assert found(tmp_path) == [("d.sh", "script")]


def test_a_workflow_of_cylc_is_none_of_a_shell(tmp_path):
    """Its tasks have scripts with here-documents, between quotes of its own."""
    tasks = '[runtime]\n  [[a]]\n    script = """\ncat >NAMELIST_atm <<E\n&run_nml (\n/\nE\n"""\n'
    write(tmp_path, "suite.rc", text=f"{{% set n = 2 %}}\ntitle = mine\n[scheduling]  # when\n{tasks}")
    write(tmp_path, "flow.cylc", "part.cylc", text=f"# mine\n\n{tasks}")
    write(tmp_path, "job", text="#!/bin/bash\ncat >flow.cylc <<E\n[runtime]\nE\n")
    assert found(tmp_path) == [("job", "script")]
    for name in ("suite.rc", "flow.cylc", "part.cylc"):
        with pytest.raises(InputError, match="is a workflow of Cylc"):
            found(tmp_path / name)


@pytest.mark.parametrize("first", ["setenv A 1", "set a = 1", "if ( $a == 1 ) then", "foreach i ( 1 2 )"])
def test_a_script_that_begins_as_one_of_csh_is_none_of_a_shell(first, tmp_path):
    write(tmp_path, "a.job", text=f"#\n{first}\n")
    write(tmp_path, "b.job", text="#\nset -e\nif (true); then\nsrun a\nfi\n")
    write(tmp_path, "c.job", text=f"#!/bin/sh\ncat >run.csh <<END\n{first}\nEND\n")
    assert found(tmp_path) == [("b.job", "script"), ("c.job", "script")]


@pytest.mark.parametrize("called", ["/bin/csh -f", "/usr/bin/env python3", " /usr/bin/tclsh"])
def test_a_script_that_is_called_below_remarks_is_of_what_is_called(called, tmp_path):
    write(tmp_path, "a.job", text=f"### to be done\n\n#!{called}\nlimit stacksize unlimited\n")
    write(tmp_path, "b.job", text=f"#!/bin/sh\n#!{called}\nsrun a\n")
    write(tmp_path, "c.job", text=f"# of mine\n#!/bin/bash\nsrun a\n#!{called}\n")
    assert found(tmp_path) == [("b.job", "script"), ("c.job", "script")]


@pytest.mark.parametrize("line", ["ifeq ($(MPI), 1)", ".PHONY: all", "CXX := g++", "%.o: %.f90"])
def test_what_only_make_takes_is_for_make(line, tmp_path):
    rule = f"{line}\nall:\n\tcc $<\n"
    write(tmp_path, "build", "rules.sh", text=f"#!/bin/bash\n{rule}")
    write(tmp_path, "makes", text=f"#!/bin/bash\ncat >Makefile <<'END'\n{rule}END\nsrun a\n")
    write(tmp_path, "sets", text="#!/bin/bash\ncase $a in\nb) c=: ;;\nesac\n: ${c:=d}\n")
    assert found(tmp_path) == [("makes", "script"), ("sets", "script")]


@pytest.mark.parametrize(
    "line",
    [
        'eval \'exec perl -wSx "$0" "$@"\'\n  if 0;\nuse POSIX qw(a);',
        '# of Tcl \\\nexec tclsh "$0" ${1+"$@"}\nset a [b',
    ],
)
def test_a_script_that_hands_itself_to_another_program_is_none_of_a_shell(line, tmp_path):
    write(tmp_path, "a", "a.sh", text=f"#!/bin/sh\n{line}\n")
    write(tmp_path, "b.sh", text='#!/bin/sh\nexec python3 "$(dirname "$0")/b.py" "$@"\n')
    assert found(tmp_path) == [("b.sh", "script")]


def test_what_is_given_is_always_taken(tmp_path):
    write(tmp_path, "notes", ".hidden.nml", "x.txt")
    write(tmp_path, "x.md", text=HEREDOC)
    write(tmp_path, "x.config", text="a = 1\n")
    paths = [tmp_path / name for name in ("notes", ".hidden.nml", "x.txt", "x.md", "x.config")]
    assert [kind for _, kind in found(*paths)] == ["namelist", "namelist", "namelist", "script", "config"]
    assert found(tmp_path / "notes", is_fragment=True) == [("notes", "script")]
    assert found(tmp_path / "notes", tmp_path / "." / "notes") == [("notes", "namelist")]


def test_nothing_to_lint(tmp_path):
    write(tmp_path, "README")
    with pytest.raises(InputError, match=r"holds nothing to lint: .*NAMELIST_\*, \*\.nml or \*\.namelist"):
        found(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        found(tmp_path / "nothing")


def test_binary():
    assert is_binary("\x7fELF\x02\x01\x01\0\0\0\0")
    assert is_binary("\udcff" * 10)
    assert not is_binary("&run_nml\n num_lev = 90 ! Gr\udcfc\udcdfe \0\n/\n" * 3)
    assert not is_binary("")


def test_a_link_to_the_whole_machine_is_not_followed(tmp_path):
    write(tmp_path, "here/NAMELIST_atm", "elsewhere/other.nml")
    (tmp_path / "here" / "root").symlink_to("/")
    (tmp_path / "here" / "up").symlink_to("..")
    (tmp_path / "here" / "beside").symlink_to(tmp_path / "elsewhere")
    assert found(tmp_path / "here") == [("NAMELIST_atm", "namelist")]


def test_more_files_than_anybody_means(tmp_path, monkeypatch):
    write(tmp_path, "a.nml", "b.nml", "c.nml")
    monkeypatch.setattr("nmlgen.lift.targets._MOST_FILES", 3)
    assert len(found(tmp_path)) == 3
    monkeypatch.setattr("nmlgen.lift.targets._MOST_FILES", 2)
    with pytest.raises(InputError, match="more than 2 files"):
        targets([tmp_path], Files())


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_many_comments_before_a_group(line_end, tmp_path):
    """One thousand of them: whoever tries each line end twice never comes to the group."""
    write(tmp_path, "a", text=("! a comment" + line_end) * 1000 + "&run_nml" + line_end + "/" + line_end)
    assert found(tmp_path / "a") == [("a", "namelist")]
