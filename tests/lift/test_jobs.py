"""What scripts of others ask of the machine."""

from __future__ import annotations

import pytest
from foreign_scripts import COMPLETE, FRAGMENT, LOOP, SETTINGS, SOURCED, TWO_WAYS, UNKNOWN
from rows import rows

from nmlgen import lint
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty
from nmlgen.lift.loading import Loaded, load
from nmlgen.source import Text


@pytest.fixture
def lifted(tmp_path):
    def lift(text: str) -> Experiment:
        (tmp_path / "exp.waves.run").write_text(text)
        experiment = load(tmp_path / "exp.waves.run").experiment
        return experiment

    return lift


def loaded(tmp_path, text: str) -> Loaded:
    (tmp_path / "exp.waves.run").write_text(text)
    return load(tmp_path / "exp.waves.run")


def test_a_complete_script(lifted):
    experiment = lifted(COMPLETE)
    assert experiment.name == "waves"
    assert (experiment.machine.name, experiment.machine.scheduler) == ("unknown", "slurm")
    assert experiment.run_directory.value == "/scratch/b/waves"
    assert experiment.executable.value == "/work/bb1234/icon/bin/icon"
    assert {name: setting.value for name, setting in experiment.environment.items()} == {
        "I_MPI_EXTRA_FILESYSTEM": "on",
        "OMP_NUM_THREADS": "1",
    }
    assert [(file.target, file.source.value, file.method) for file in experiment.inputs] == [
        ("iconR02B04.nc", "/pool/grids/iconR02B04.nc", "link"),
        ("o3_icon_DOM01.nc", "/pool/data/ozone.nc", "copy"),
    ]
    assert [(found.what, found.directories) for found in experiment.striping] == [
        ("output", ("out",)),
        ("restart", (".",)),
    ]
    assert {name: hint.value for name, hint in experiment.mpi.hints.items()} == {
        "cb_nodes": 4,
        "romio_cb_write": "enable",
    }
    assert (experiment.mpi.implementation.value, experiment.mpi.version.value) == ("intel", "2021.5.0")
    assert experiment.darshan.library.value == "/sw/lib/libdarshan.so"
    assert experiment.darshan.environment["DARSHAN_MODMEM"].value == 8
    assert [option.value for option in experiment.launch.options] == ["--cpu-bind=cores"]
    assert (experiment.tasks.value, experiment.stack_limit.value) == (64, "unlimited")
    assert [module.value for module in experiment.modules] == ["intel-oneapi-mpi/2021.5.0"]
    assert experiment.components[0]["parallel_nml", "num_io_procs"].value == 4  # from SLURM_JOB_NUM_NODES, a directive


def test_no_module_is_loaded_by_an_empty_name(lifted):
    text = COMPLETE.replace("module load ", 'wanted=""\nmodule load "$wanted"\nmodule load ')
    assert text != COMPLETE
    assert [module.value for module in lifted(text).modules] == ["intel-oneapi-mpi/2021.5.0"]


@pytest.mark.parametrize(
    ("launch", "tasks", "options"),
    [
        ("srun /x/icon", 64, []),
        ("srun --ntasks=16 -l /x/icon", 16, ["-l"]),
        ("srun --nodes=2 --ntasks-per-node=8 /x/icon", 16, ["--nodes=2", "--ntasks-per-node=8"]),
        ("srun -c 4 /x/icon", 64, ["--cpus-per-task=4"]),
        ("mpirun -np 8 --bind-to core /x/icon", 8, ["--bind-to", "core"]),
        ("srun $(hidden) /x/icon", None, None),
    ],
)
def test_the_number_of_tasks_is_no_option(launch, tasks, options, lifted):
    experiment = lifted(COMPLETE.replace("srun -n 64 --cpu-bind=cores /work/bb1234/icon/bin/icon", launch))
    if tasks is None:
        assert experiment.launch.options[0].certainty is Certainty.UNKNOWN
    else:
        assert experiment.tasks.value == tasks
        assert [option.value for option in experiment.launch.options] == options


def test_tasks_that_nobody_tells_are_not_known(lifted):
    text = COMPLETE.replace("#SBATCH --ntasks-per-node=32\n", "").replace("srun -n 64", "mpirun")
    assert lifted(text).tasks.certainty is Certainty.UNKNOWN


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ln -s /pool/a.nc b.nc", ("b.nc", "/pool/a.nc", "link")),
        ("ln -s ../a.nc ./", ("a.nc", "/scratch/b/a.nc", "link")),
        ("cp -t . /pool/a.nc", ("a.nc", "/pool/a.nc", "copy")),
        ("cp /pool/a.nc /elsewhere/a.nc", None),
        ("cp /pool/a.nc $rundir", ("a.nc", "/pool/a.nc", "copy")),
        ("cd /; ln -s /pool/a.nc $rundir/b.nc; cd $rundir", ("b.nc", "/pool/a.nc", "link")),
        ("cd /; ln -s /pool/a.nc /scratch/b; cd $rundir", None),
        ("cd /; cp /pool/a.nc .; cd $rundir", None),
        ("ln /pool/a.nc b.nc", None),
        ("ln -s /pool/a.nc data/", ("data/a.nc", "/pool/a.nc", "link")),
        ("mkdir -p data; cp /pool/a.nc data", ("data/a.nc", "/pool/a.nc", "copy")),
        ("mkdir -p $rundir/data; cp /pool/a.nc $rundir/data", ("data/a.nc", "/pool/a.nc", "copy")),
        ("cp /pool/a.nc data", ("data", "/pool/a.nc", "copy")),
        ("cp /pool/a.nc ../data/a.nc", None),
    ],
)
def test_input_files(command, expected, lifted):
    experiment = lifted(COMPLETE.replace("cp /pool/data/ozone.nc o3_icon_DOM01.nc", command))
    found = [(file.target, file.source.value, file.method) for file in experiment.inputs[1:]]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ln -s /pool/a*.nc .", ("a*.nc", "/pool", "link", False)),
        ("cp /pool/a?.nc ./", ("a?.nc", "/pool", "copy", False)),
        ("mkdir -p data; cp /pool/a*.nc data", ("data/a*.nc", "/pool", "copy", False)),
        ("pool=/pool; cp $pool/a*.nc data/", ("data/a*.nc", "/pool", "copy", False)),
        ("for f in /pool/a*.nc; do cp $f .; done", ("a*.nc", "/pool", "copy", False)),
        ("for f in $(find /pool -name 'a*.nc'); do ln -s $f data/; done", ("data/a*.nc", "/pool", "link", True)),
        ("find /pool -name 'a*.nc' -exec ln -s {} . \\;", ("a*.nc", "/pool", "link", True)),
        ("find /pool -maxdepth 1 -name 'a*' -exec cp -t data/ {} +", ("data/a*", "/pool", "copy", False)),
        ("find /pool -maxdepth 1 -name 'a*' -exec cp {} $rundir \\;", ("a*", "/pool", "copy", False)),
        ("find $(where) -name 'a*' -exec cp {} . \\;", ("a*", None, "copy", True)),
        ("find /pool -name 'a*' -exec cp {} /elsewhere/ \\;", None),
        ("find /pool -name 'a*' -exec rm {} \\;", None),
        ("cp /pool/a*.nc data", None),
        ("for f in /pool/a*.nc; do cp $f b.nc; done", ("b.nc", None, "copy", False)),
    ],
)
def test_input_files_by_a_pattern(command, expected, lifted):
    experiment = lifted(COMPLETE.replace("cp /pool/data/ozone.nc o3_icon_DOM01.nc", command))
    found = [
        (
            file.target,
            None if file.source.certainty is Certainty.UNKNOWN else file.source.value,
            file.method,
            file.is_deep,
        )
        for file in experiment.inputs[1:]
        if file.is_pattern or file.target == "b.nc"
    ]
    assert found == ([expected] if expected else [])


def test_what_is_not_known_is_a_setting_that_is_not_known(lifted):
    experiment = lifted(UNKNOWN)
    for setting in (experiment.directives["time"], experiment.components[0]["parallel_nml", "num_io_procs"]):
        assert setting.certainty is Certainty.UNKNOWN


def test_a_fragment_says_nothing_of_its_job(tmp_path):
    found = loaded(tmp_path, FRAGMENT)
    assert found.parts == ("namelist", "job")
    experiment = found.experiment
    assert experiment.directives_span is None
    assert experiment.tasks.certainty is Certainty.UNKNOWN


def test_the_way_that_is_taken_is_said(tmp_path):
    first, second = loaded(tmp_path, TWO_WAYS).choices
    assert first.endswith("otherwise master_time_control_nml checkpointTimeIntval would differ")
    assert second.endswith(": only a run knows whether this is written; here it is")
    both = COMPLETE.replace(
        "nodes=$SLURM_JOB_NUM_NODES",
        "nodes=2\nif [ -f /pool/restart.nc ]; then EXPNAME=warm; else EXPNAME=cold; fi",
    )
    first, *_ = loaded(tmp_path, both).choices
    assert "only a run knows which file this is; here it is " in first
    assert "would differ" in first


def test_files_beside_the_script_are_read(tmp_path):
    (tmp_path / "settings").write_text(SETTINGS)
    assert loaded(tmp_path, SOURCED).experiment.name == "waves"


def test_streams_of_a_loop(lifted):
    names = [stream.settings["output_filename"].value for stream in lifted(LOOP).components[0].streams]
    assert names == ["out/waves_2d", "out/waves_pl", "out/waves_hl"]


def test_the_directory_of_submission_is_where_the_script_begins(lifted):
    """And one word, which holds no option of the launcher."""
    text = COMPLETE.replace("cp /pool/data/ozone.nc o3_icon_DOM01.nc", "cp $SLURM_SUBMIT_DIR/../data/ozone.nc .")
    experiment = lifted(text.replace("/work/bb1234/icon/bin/icon", "$SLURM_SUBMIT_DIR/icon"))
    assert experiment.tasks.value == 64
    assert [option.value for option in experiment.launch.options] == ["--cpu-bind=cores"]
    assert [(file.target, file.source.value) for file in experiment.inputs[1:]] == [("ozone.nc", "../data/ozone.nc")]


def test_what_is_brought_by_a_path_of_which_only_the_end_is_known(lifted):
    experiment = lifted(COMPLETE.replace("cp /pool/data/ozone.nc o3_icon_DOM01.nc", "cp $(where_it_is)/ozone.nc ."))
    assert [(file.target, file.source.certainty) for file in experiment.inputs[1:]] == [("ozone.nc", Certainty.UNKNOWN)]


def test_icon_without_a_launcher(tmp_path):
    found = loaded(tmp_path, COMPLETE.replace("srun -n 64 --cpu-bind=cores /work/bb1234/icon/bin/icon", "./icon"))
    assert found.remarks == ()
    assert [file.target for file in found.experiment.inputs] == ["iconR02B04.nc", "o3_icon_DOM01.nc"]


def test_a_script_that_leaves_the_start_to_another_job(tmp_path):
    text = COMPLETE.replace("LD_PRELOAD=", "cat > job << END\n").replace("bin/icon", "bin/icon\nEND\nsbatch job")
    assert any("nothing that it runs itself starts ICON" in remark for remark in loaded(tmp_path, text).remarks)


def test_of_several_known_values_the_last_is_taken_and_said(tmp_path):
    where = "if [ -d /users ]; then pool=/users/pool; else pool=/pool; fi\ncp $pool/data/ozone.nc o3_icon_DOM01.nc"
    found = loaded(tmp_path, COMPLETE.replace("cp /pool/data/ozone.nc o3_icon_DOM01.nc", where))
    assert found.experiment.inputs[1].source.value == "/pool/data/ozone.nc"
    (choice,) = found.choices
    assert choice.endswith("only a run knows which of its values this has; here it is '/pool/data/ozone.nc'")


RUNS = "cat >NAMELIST_atm <<EOF\n&nonhydrostatic_nml\n/\nEOF\nsrun ./icon\n"
NO_INTERVAL = COMPLETE.replace(" checkpointTimeIntval = 'P1D'\n", "")


@rows(
    ("text", "code"),
    [
        (COMPLETE.replace("lfs setstripe -c 1 $rundir", "touch a.nc\nlfs setstripe -c 1 a.nc"), "LFS003"),
        (COMPLETE.replace("lfs setstripe -c 1 $rundir", "echo >a.nc\nlfs setstripe -c 1 $rundir/a.nc"), "LFS003"),
        (COMPLETE.replace("lfs setstripe -c 1 $rundir\n", "") + "lfs setstripe -c 1 $rundir\n", "LFS005"),
        (f"#!/bin/bash\nOUT=$SCRATCH/$USER\ntouch $OUT/a.nc\nlfs setstripe -c 1 $OUT/a.nc\n{RUNS}", "LFS003"),
        (f"#!/bin/bash\nOUT=/s/$USER\ntouch $OUT/a.nc\ncd $OUT\nlfs setstripe -c 1 a.nc\n{RUNS}", "LFS003"),
        (f"#!/bin/bash\ncd $SCRATCH/$USER\nlfs setstripe -c 1 a\nmkdir -p ./a\n{RUNS}", "LFS004"),
        (f"#!/bin/bash\nlfs setstripe -c 1 $OUT/a\nmkdir -p -- $OUT/a/\n{RUNS}", "LFS004"),
        (f"#!/bin/bash\ncd $OUT/$USER\n{RUNS}lfs setstripe -c 1 $OUT/$USER\n", "LFS005"),
        (COMPLETE + "lfs setstripe -S 100K /scratch/elsewhere\n", "LFS001"),
        ("#!/bin/bash\nlfs setstripe -S 4G data\nsrun ./icon\n", "LFS001"),
        (COMPLETE.replace("export OMP_NUM", "OMP_NUM"), "ENV001"),
        (COMPLETE.replace("OMP_NUM_THREADS", "OMP_NUM_THREAD"), "ENV003"),
        (COMPLETE.replace("libdarshan.so srun", "libdarshan.so\nsrun"), "ENV001"),
        (COMPLETE.replace("DARSHAN_MODMEM", "DARSHAN_MODMEN"), "ENV003"),
        (COMPLETE.replace("srun -n 64", "srun -n 65"), "SLM030"),
        (COMPLETE.replace("srun -n 64", "srun -N 3 -n 64"), "SLM030"),
        (f"{NO_INTERVAL}\nsbatch exp.waves.run\n", "LCH002"),
        (COMPLETE.replace("ulimit", "mkdir -p a b\ncd a\nrm -f ../b/\ncd ..\nulimit"), "SHL012"),
    ],
)
def test_mistakes_round_the_launch(text, code, tmp_path):
    (tmp_path / "exp.waves.run").write_text(text)
    assert code in {finding.code for finding in lint([tmp_path / "exp.waves.run"]).findings}


@pytest.mark.parametrize(
    "text",
    [
        COMPLETE,
        COMPLETE.replace("lfs setstripe -c 1 $rundir", "lfs setstripe -c 1 a.nc\ntouch a.nc"),
        COMPLETE + "lfs setstripe -S 0 /scratch/elsewhere\n",
        f"#!/bin/bash\ntouch $OUT/a.nc\nlfs setstripe -c 1 $OTHER/a.nc\nmkdir $OUT/a $OUT\n{RUNS}",
        f"#!/bin/bash\ntouch a.nc\ncd $OUT\nlfs setstripe -c 1 a.nc\nlfs setstripe -c 1 $A/a\nmkdir a\n{RUNS}",
        f"#!/bin/bash\ncd $OUT/$USER\n{RUNS}lfs setstripe -c 1 $OUT/other\n",
        f"#!/bin/bash\n#SBATCH -N 1\n#PBS -l select=1:ncpus=3\n{RUNS}",  # which GPUs are asked for nobody knows
        COMPLETE.replace("export OMP_NUM_THREADS=1\n", "").replace("srun -n", "OMP_NUM_THREADS=1 srun -n"),
        COMPLETE.replace("export OMP_NUM_THREADS=1", "OMP_NUM_THREADS=1").replace(
            "ulimit", "export OMP_NUM_THREADS\nulimit"
        ),
        COMPLETE.replace("libdarshan.so srun", "libdarshan.so\nsrun --export=ALL,LD_PRELOAD=$LD_PRELOAD"),
        COMPLETE.replace("--ntasks-per-node=32", "--ntasks-per-node=1\n#SBATCH --cpus-per-task=32"),
        COMPLETE + "sbatch exp.waves.run\n",
        NO_INTERVAL + "sbatch post.run\n",
        COMPLETE.replace(
            "ulimit", "mkdir a b c d\nrm a/b\nrm -rf a\nrm a\nrmdir b\nrm b\nmv c e\nrm c\nrm -r $x; rm d\nulimit"
        ),
        f"{NO_INTERVAL}\nif [ $(cat finish.status) = RESTART ]; then sbatch exp.waves.run; fi\n",
    ],
)
def test_what_is_no_mistake_round_the_launch(text, tmp_path):
    (tmp_path / "exp.waves.run").write_text(text)
    found = {finding.code for finding in lint([tmp_path / "exp.waves.run"]).findings}
    assert not found & {"LFS003", "LFS004", "LFS005", "ENV001", "ENV003", "SLM030", "LCH002"}


@pytest.mark.parametrize(
    ("lines", "is_found"),
    [
        ("mkdir a ab\nrm -r ab\nrm a", True),
        ("mkdir -p a/b/c\nrm -r a\nrm a/b/c", False),
        ("mkdir -p a/b/c\nrm -r a/b\nrm a/b/c", False),
        ("mkdir -p a/b/c\nrm -r a/b/c/d\nrm a/b/c", True),
        ("mkdir -p a/b/c\nrm -r a\nmkdir -p a/b/c\nrm a/b/c", True),
        ("mkdir -p a/b/c\nrmdir a/b/c\nrm a/b/c", False),
    ],
)
def test_a_directory_is_gone_with_those_that_it_lies_in(lines, is_found, tmp_path):
    (tmp_path / "exp.waves.run").write_text(COMPLETE.replace("ulimit", f"{lines}\nulimit"))
    assert ("SHL012" in {finding.code for finding in lint([tmp_path / "exp.waves.run"]).findings}) is is_found


@pytest.mark.parametrize(
    ("launch", "refused"),
    [
        ("srun -n $1 --cpu-bind=none ./icon", False),
        ("srun -n$1 --cpu-bind=none ./icon", False),
        ("tasks=$1\nmpirun -np $tasks ./icon", False),
        ("srun -n TASKS ./icon", False),
        ("mpirun -np xx ./icon", False),
        ('run="mpirun -np $tasks -ppn 4"\n$run ./icon', False),
        ('run="mpirun -np $(wc -l <a) -ppn $tasks -v"\n$run ./icon', False),
        ("srun -n --cpu-bind=none ./icon", True),
        ("mpirun -np full ./icon", True),
    ],
)
def test_tasks_that_come_from_outside(launch, refused, tmp_path):
    (tmp_path / "job.sh").write_text(f"#!/bin/bash\n#SBATCH --nodes=1\n{launch}\n")
    assert ("LCH001" in {finding.code for finding in lint([tmp_path / "job.sh"]).findings}) is refused


@rows(
    ("names", "found"), [("'zgeo', 'temp'", []), ("'zgeo', 'tempp'", ["tempp"]), ("'z_mc'", []), ("'zgeoo'", ["zgeoo"])]
)
@rows(
    "dictionary",
    [
        "dict_file=dict.mine\nadd_required_file ${basedir}/run/dict.test dict.mine",
        "dict_file=dict.mine; cat dict.test >dict.mine",
        "dict_file=$(where)/dict.test",
    ],
)
def test_names_of_output_by_a_dictionary_beside_the_script(names, found, dictionary, tmp_path):
    (tmp_path / "dict.test").write_text("# names\n zgeo  z_mc\n")
    dictionary_group = "&io_nml\n output_nml_dict = '${dict_file}'\n/\n&output_nml\n"
    text = COMPLETE.replace("'tas', 'pr'", names).replace("&output_nml\n", dictionary_group)
    (tmp_path / "exp.waves.run").write_text(text.replace("module purge\n", f"{dictionary}\n"))
    report = lint([tmp_path / "exp.waves.run"], icon_release="2024.10")
    assert [finding.message.split('"')[1] for finding in report.findings if finding.code == "OUT026"] == found
    (tmp_path / "dict.test").unlink()
    report = lint([tmp_path / "exp.waves.run"], icon_release="2024.10")
    assert "OUT026" not in {finding.code for finding in report.findings}


COLLECTING = """\
number_of_linked_files=0
add_link_file() {
  new_name=$2
  if [[ -d "$new_name" ]]; then new_name="${new_name%/}/${1##*/}"; fi
  input_linked_file[$number_of_linked_files]=$1
  output_linked_file[$number_of_linked_files]=$new_name
  (( number_of_linked_files = number_of_linked_files + 1 ))
}
link_required_files() {
  i=0
  while [ $i -lt $number_of_linked_files ]; do
    ln -s ${input_linked_file[${i}]} ${output_linked_file[${i}]}
    (( i=i+1 ))
  done
}
add_link_file /pool/a.nc ./b.nc
add_link_file /pool/c.nc ./
ADDED
if [ -f /pool/e.nc ]; then add_link_file /pool/e.nc ./; fi
link_required_files
"""


@pytest.mark.parametrize(
    ("added", "more", "remarks"),
    [
        ("", {}, 0),
        ("add_link_file $(where_is_it)/d.nc ./", {"d.nc": None}, 0),
        ("add_link_file /pool/d.nc ./data/d.nc", {"data/d.nc": "/pool/d.nc"}, 0),
        ("add_link_file /pool/d.nc ../d.nc", {}, 1),
        ("add_link_file /pool/d.nc $(where)", {}, 1),
        (
            "for name in x y z; do if [ -f /p/$name ]; then add_link_file /p/$name ./; fi; done\n"
            "add_link_file /pool/d.nc d.nc",
            {"d.nc": "/pool/d.nc"},
            0,
        ),
        (
            "case $HOSTNAME in rc*) add_link_file ~icon/d.nc d.nc ;; *) add_link_file /pool/d.nc d.nc ;; esac",
            {"d.nc": "/pool/d.nc"},
            0,
        ),
        (
            "add_link_file /pool/d.nc .\nfor name in $of_nobody; do add_link_file /p/$name .; done",
            {"d.nc": "/pool/d.nc"},
            0,
        ),
    ],
)
def test_files_that_a_script_collects_and_links_in_a_loop(added, more, remarks, tmp_path):
    script = tmp_path / "exp.waves.run"
    head, launch, rest = COMPLETE.partition("LD_PRELOAD=")
    script.write_text(head + COLLECTING.replace("ADDED", added) + launch + rest)
    loaded = load(script)
    brought = {
        file.target: None if file.source.certainty is Certainty.UNKNOWN else file.source.value
        for file in loaded.experiment.inputs
        if file.target in ("b.nc", "c.nc", "d.nc", "data/d.nc", "e.nc")
    }
    assert brought == {"b.nc": "/pool/a.nc", "c.nc": "/pool/c.nc", **more}
    assert len([remark for remark in loaded.remarks if "put_linked_file" in remark]) == remarks
    assert any("whether /pool/e.nc is brought; here it is not" in choice for choice in loaded.choices)


def test_what_a_command_makes_is_not_looked_for_word_by_word(tmp_path, monkeypatch):
    spans, counted = [], []
    span = Text.span
    monkeypatch.setattr(Text, "span", lambda text, *ends: spans.append(ends) or span(text, *ends))
    for count in (100, 400):
        spans.clear()
        made = "mkdir " + " ".join(f'"$(date)/{number}"' for number in range(count))
        loaded(tmp_path, COMPLETE.replace("mkdir", f"{made}\nmkdir", 1))
        counted.append(len(spans))
    assert counted[1] < 6 * counted[0]
