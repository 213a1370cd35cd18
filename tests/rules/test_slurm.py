"""Slurm's rules beyond their examples."""

from __future__ import annotations

from attrs import evolve
from rows import rows
from rules.experiments import judge
from rules.test_examples import BASE, check

from nmlgen.checking import check_experiment
from nmlgen.experiment.setting import written
from nmlgen.rules import all_rules
from nmlgen.spec.spec import load_spec


def codes(text, tmp_path):
    return [finding.code for finding in check(text, tmp_path).findings if finding.code.startswith("SLM")]


def codes_at(site, job, tmp_path):
    """The codes of a run at a site of our own."""
    site_file = tmp_path / "site.yaml"
    site_file.write_text(f"description: a site\nmachine: {{{site}}}\ndefaults: {{}}\n", encoding="utf-8")
    spec_file = tmp_path / "spec.yaml"
    spec_file.write_text(f"job: {{{job}}}\n", encoding="utf-8")
    spec = load_spec(spec_file, [f"extends={BASE}", f"site={site_file}"])
    return [f.code for f in check_experiment(spec.experiment).findings if f.code.startswith("SLM")]


@rows(
    "job",
    [
        'time: "08:00:00"',
        'time: "0-08:00:00"',
        'partition: "compute,shared", time: "2-00:00:00"',  # one of them takes it
        "partition: shared, ntasks_per_node: 500",  # a partition's cores are not the machine's
        "partition: shared, mem: 900G",
        "hint: nomultithread, ntasks_per_node: 128",
        "nodes: 3, ntasks: 300, ntasks_per_node: 100",
        'export: "PATH,ALL"',
        "export: all",
        'output: "./%x.%j.log"',
        'output: "/dev/null"',
        'output: "%%.%5j.%A_%a.%N.%u.log"',
        'comment: "costs 5$ and ~3 days"',
        'constraint: "[256G*1&BEEOND*1]"',
        'dependency: "afterok:1:2_3,AFTERANY:4,singleton"',
        'dependency: "after:1+10?afterany:2"',
        'time: "00:02:00", signal: "B:USR1@119"',
    ],
)
def test_accepted(job, tmp_path):
    assert codes(f"job: {{{job}}}\n", tmp_path) == []


@rows(
    ("job", "code"),
    [
        ('time: "08:00:01"', "SLM002"),  # Slurm rounds up to 08:01:00
        ('time: "00:00:00"', "SLM002"),
        ('partition: "compute,nosuch"', "SLM001"),
        ("hint: nomultithread, ntasks_per_node: 129", "SLM004"),
        ("nodes: 1, ntasks: 257, ntasks_per_node: null", "SLM004"),
        ("partition: null, ntasks_per_node: 129", "SLM005"),
        ("partition: null, hint: multithread, ntasks_per_node: 129", "SLM005"),
        ("partition: null, hint: nomultithread, ntasks_per_node: 129", "SLM004"),
        ("ntasks_per_node: 129", "SLM005"),
        ("mem_per_cpu: 10G", "SLM006"),
        ("partition: null, mem: 1T", "SLM006"),
        ("export: NIL", "SLM010"),
        ('export: "X=1"', "SLM010"),
        ('error: "~/x.err"', "SLM012"),
        ('output: "logs/$USER/x.log"', "SLM012"),
        ('job_name: "$USER"', "SLM013"),
        ('output: "%x.$SLURM_JOB_ID.log"', "SLM013"),
        ('output: "a%"', "SLM016"),
        ('dependency: "afterok"', "SLM024"),
        ('dependency: "afterok:x"', "SLM024"),
        ('dependency: "afterok:\u0663"', "SLM024"),  # a digit to Python
        ('dependency: "expand:1"', "SLM024"),
        ('time: "00:02:00"', "SLM022"),  # the default signal comes 120 s before the end
        ('time: "00:01:30", signal: "B:USR1@120"', "SLM022"),  # the limit is two minutes
    ],
)
def test_found(job, code, tmp_path):
    assert code in codes(f"job: {{{job}}}\n", tmp_path)


def test_list_with_path_is_a_warning_only(tmp_path):
    found = codes('job: {export: "PATH,HOME"}\n', tmp_path)
    assert found == ["SLM011"]


def test_export_given_to_srun_itself(tmp_path):
    assert codes('job: {export: NONE}\nlaunch: {options: ["--export=ALL"]}\n', tmp_path) == []


def test_export_matters_to_srun_only(tmp_path):
    assert codes("job: {export: NONE}\nlaunch: {command: mpirun}\n", tmp_path) == []


def test_text_of_1024_characters_is_accepted(tmp_path):
    assert codes(f"job: {{comment: {'x' * 1024}}}\n", tmp_path) == []


def test_silent_without_slurm(tmp_path):
    job = 'account: null, time: null, nodes: 900, export: NONE, output: "~/x", dependency: "no", signal: "B:USR1@1"'
    found = codes_at("scheduler: none, file_system: local", job, tmp_path)
    assert found == []


def test_silent_where_nothing_is_known(tmp_path):
    job = "partition: any, nodes: 9000, ntasks_per_node: 999, mem: 99T, constraint: anything, account: null"
    found = codes_at("scheduler: slurm, file_system: unknown", job, tmp_path)
    assert found == []


def test_larger_nodes_are_known_by_their_feature(tmp_path):
    site = "scheduler: slurm, file_system: lustre, memory_per_node: 256G, features: [256G, 512G]"
    assert "SLM006" not in codes_at(site, "partition: null, mem: 400G", tmp_path)
    assert "SLM006" in codes_at(site, "partition: null, mem: 600G", tmp_path)


# --- What the launcher is told ---


@rows(
    ("launch", "is_found"),
    [
        ('{options: ["--ntasks=512"]}', False),
        ('{options: ["--ntasks=513"]}', True),
        ('{options: ["-n513"]}', True),
        ('{options: ["--ntasks=513", "--overcommit"]}', False),
        ('{command: mpirun, options: ["-np 256"]}', False),
        ('{command: mpirun, options: ["-np 257"]}', True),
        ('{command: mpirun, options: ["-np 257", "--oversubscribe"]}', False),
        ('{options: ["--ntasks=256", "--cpus-per-task=2"]}', False),
        ('{options: ["--ntasks=256", "-c", "3"]}', True),
        ('{options: ["-N", "2"]}', False),
        ('{options: ["-N", "3"]}', True),
        ('{options: ["--nodes=3-4"]}', True),
        ("{}", False),
    ],
)
def test_tasks_that_the_launcher_is_told(launch, is_found, tmp_path):
    assert ("SLM030" in codes(f"launch: {launch}", tmp_path)) is is_found


def test_no_node_has_no_task(tmp_path):
    """As a script may say it; a spec cannot."""
    path = tmp_path / "spec.yaml"
    path.write_text("job: {nodes: 1, ntasks: 129, ntasks_per_node: null}\n", encoding="utf-8")
    experiment = load_spec(path, [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}"]).experiment
    none = evolve(experiment, directives={**experiment.directives, "nodes": written("job.nodes", 0, "script")})
    (rule,) = (rule for rule in all_rules() if rule.code == "SLM005")
    assert [len(judge(job, [rule])) for job in (experiment, none)] == [1, 0]


def test_other_libraries_put_several_tasks_on_a_core(tmp_path):
    text = 'mpi: {implementation: intel}\nlaunch: {command: mpirun, options: ["-np 257"]}'
    assert "SLM030" not in codes(text, tmp_path)


@rows(
    ("key", "comma", "code"),
    [("constraint", "&", "SLM021"), ("partition", ",", "SLM001"), ("dependency", ",", "SLM024")],
)
def test_words_of_one_text_are_told_of_once_and_few_of_many(key, comma, code, tmp_path):
    same, many = comma.join(["a"] * 50), comma.join(f"a{number}" for number in range(50))
    assert codes(f'job: {{{key}: "{same}"}}\n', tmp_path).count(code) == 1
    assert codes(f'job: {{{key}: "{many}"}}\n', tmp_path).count(code) == 10
