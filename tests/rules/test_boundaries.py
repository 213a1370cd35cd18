"""Both sides of what rules of few lines ask for, which their examples show one side of at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from grid_files import GLOBAL, NEST, OCEAN, grid, header
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.findings import Finding
from nmlgen.rules import all_rules
from nmlgen.rules.rule import Rule

RULES = {rule.code: rule for rule in all_rules()}


class _ForAWhile(Rule):
    first_release, last_release = "2024.10", "2025.04"

    def check(self, subject: object) -> Iterator[Finding]:
        yield from ()


def test_a_rule_holds_from_its_first_release_to_its_last() -> None:
    releases = ("2024.07", "2024.10", "2025.04", "2025.10")
    assert [_ForAWhile.holds_in(release) for release in releases] == [False, True, True, False]


def count(code: str, text: str, tmp_path: Path) -> int:
    return len(judge(experiment_of(text, tmp_path), [RULES[code]]))


def nml(group: str, settings: str) -> str:
    return f"namelists: {{{group}: {{{settings}}}}}\n"


def with_release(release: str, text: str) -> str:
    return f'model: {{release: "{release}"}}\n{text}'


NESTED = "grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}"
CHECKPOINT = "restart: {{checkpointTimeIntval: P{}D, restartTimeIntval: P10D}}\n"
STREAM = "output: {{atm: {{{}}}}}\n"
DAY = "2008-09-03T00:00:00Z"
STOP = "time: {{stop: 2008-{}T00:00:00Z}}\n"
LATER = STREAM.format(f"output_start: {DAY}, output_end: {DAY}")
LAST_IO = "job: {{nodes: 4}}\nparallel: {{num_io_procs: {}}}\noutput: {{atm: {{pe_placement_ml: 256}}}}\n"
SHARED = "parallel: {{pio_type: 2, num_io_procs: {}}}\nmpi: {{hints: {{cb_nodes: {}}}}}\n"


@rows(
    ("code", "text", "expected"),
    [
        ("DYN001", "namelists: {nonhydrostatic_nml: {itime_scheme: 1}, run_nml: {ltransport: true}}\n", 0),
        ("DYN001", "namelists: {nonhydrostatic_nml: {itime_scheme: 1}, run_nml: {ltransport: false}}\n", 1),
        ("DYN001", "namelists: {nonhydrostatic_nml: {itime_scheme: 2}, run_nml: {ltransport: false}}\n", 0),
        ("DYN007", "namelists: {nonhydrostatic_nml: {rayleigh_type: 1}, run_nml: {ltestcase: false}}\n", 1),
        ("DYN007", "namelists: {nonhydrostatic_nml: {rayleigh_type: 1}, run_nml: {ltestcase: true}}\n", 0),
        ("DYN007", "namelists: {nonhydrostatic_nml: {rayleigh_type: 2}, run_nml: {ltestcase: false}}\n", 0),
        ("GRD004", nml("grid_nml", "l_limited_area: true, is_plane_torus: true"), 1),
        ("GRD004", nml("grid_nml", "l_limited_area: true, is_plane_torus: false"), 0),
        ("GRD004", nml("grid_nml", "l_limited_area: false, is_plane_torus: true"), 0),
        ("GRD007", f"namelists: {{run_nml: {{lvert_nest: true, num_lev: [30, 30]}}, {NESTED}}}\n", 0),
        ("GRD007", f"namelists: {{run_nml: {{lvert_nest: true, num_lev: [30, 31]}}, {NESTED}}}\n", 1),
        ("GRD007", f"namelists: {{run_nml: {{lvert_nest: false, num_lev: [30, 31]}}, {NESTED}}}\n", 0),
        ("GRD007", f"namelists: {{run_nml: {{lvert_nest: true, num_lev: [31]}}, {NESTED}}}\n", 0),
        ("GRD007", f"namelists: {{run_nml: {{lvert_nest: true, num_lev: [30]}}, {NESTED}}}\n", 1),
        ("GRD007", nml("run_nml", "lvert_nest: true, num_lev: [30, 31]"), 0),  # there is no nest
        ("GRD009", nml("grid_nml", "dynamics_grid_filename: [a.nc, <path>b.nc, <path>c.nc]"), 1),
        ("GRD009", nml("grid_nml", "dynamics_grid_filename: [a.nc, path/b.nc]"), 0),
        ("GRD009", nml("grid_nml", "vct_filename: <path>heights"), 1),
        ("OUT022", STOP.format("08-31") + LATER, 0),  # another rule tells of such an end
        ("OUT022", STOP.format("09-01") + LATER, 1),
        ("PAR009", nml("parallel_nml", "num_prefetch_proc: 1"), 0),
        ("PAR009", nml("parallel_nml", "num_prefetch_proc: 2"), 1),
        ("PAR016", nml("parallel_nml", "n_ghost_rows: 1"), 0),
        ("PAR016", nml("parallel_nml", "n_ghost_rows: 0"), 1),
        ("PAR017", nml("parallel_nml", "proc0_shift: 0"), 0),
        ("PAR017", nml("parallel_nml", "proc0_shift: -1"), 1),
        ("MST011", nml("master_model_nml", "model_name: a/b") + CHECKPOINT.format(10), 1),
        ("MST011", nml("master_model_nml", "model_name: a/b") + CHECKPOINT.format(11), 0),
        ("MST011", nml("master_model_nml", "model_name: ab") + CHECKPOINT.format(10), 0),
        ("NML010", nml("parallel_nml", "nproma: 8"), 0),
        ("OMP001", "job: {cpus_per_task: 2, ntasks_per_node: 64}\nenvironment: {OMP_NUM_THREADS: '2'}\n", 0),
        ("OMP001", "job: {cpus_per_task: 2, ntasks_per_node: 64}\nenvironment: {OMP_NUM_THREADS: '3'}\n", 1),
        ("OMP001", "job: {cpus_per_task: 4, ntasks_per_node: 32}\nenvironment: {OMP_NUM_THREADS: '1'}\n", 1),
        ("OMP001", "job: {cpus_per_task: 2, ntasks_per_node: 64}\nenvironment: {OMP_NUM_THREADS: two}\n", 0),
        ("OMP001", "environment: {OMP_NUM_THREADS: '3'}\n", 0),
        ("OUT023", STREAM.format("stream_partitions_ml: 2, output_start: '>2008-09-01T00:00:00Z'"), 1),
        ("OUT023", STREAM.format("stream_partitions_ml: 1, output_start: '>2008-09-01T00:00:00Z'"), 0),
        ("OUT023", STREAM.format("stream_partitions_ml: 2, output_start: '2008-09-01T00:00:00Z'"), 0),
        ("OUT023", STREAM.format("stream_partitions_ml: 2, output_interval: PT7H, include_last: true"), 1),
        ("OUT023", STREAM.format("stream_partitions_ml: 2, output_interval: PT7H, include_last: false"), 0),
        ("OUT023", STREAM.format("stream_partitions_ml: 1, output_interval: PT7H, include_last: true"), 0),
        ("OUT023", STREAM.format("stream_partitions_ml: 2, output_interval: PT6H, include_last: true"), 0),
        ("OUT028", STREAM.format("ml_varlist: [vn], remap: 1"), 1),
        ("OUT028", STREAM.format("ml_varlist: [vn], remap: 0"), 0),
        ("OUT028", STREAM.format("ml_varlist: [u, temp], remap: 1"), 0),
        ("REL001", with_release("2025.04", nml("master_model_nml", 'model_do_restart: "yes"')), 0),
        ("REL001", with_release("2025.04", nml("master_model_nml", 'model_do_restart: "Yes"')), 1),
        ("REL001", with_release("2025.04", nml("master_model_nml", "model_do_restart: for_init")), 1),
        (
            "REL002",
            with_release(
                "2025.04",
                'namelists: {master_nml: {lrestart: true}, master_model_nml: {model_do_restart: "no"}}\n',
            ),
            1,
        ),
        (
            "REL002",
            with_release(
                "2025.04",
                'namelists: {master_nml: {lrestart: true}, master_model_nml: {model_do_restart: "yes"}}\n',
            ),
            0,
        ),
        (
            "REL002",
            with_release(
                "2025.04",
                'namelists: {master_nml: {lrestart: false}, master_model_nml: {model_do_restart: "no"}}\n',
            ),
            0,
        ),
        ("RST031", 'restart: {keep_last: 2, restart_filename: "<gridfile>_restart_<rsttime>.nc"}\n', 0),
        ("RST031", 'restart: {keep_last: 2, restart_filename: "<gridfile>_<rsttime>.nc"}\n', 1),
        ("RST031", 'restart: {restart_filename: "<gridfile>_<rsttime>.nc"}\n', 0),
        ("RST031", "restart: {keep_last: 2}\n", 0),
        ("LOC001", "node_local: {file_system: beeond, directory: stripe_1}\n", 0),
        ("LOC001", "node_local: {file_system: beeond, directory: stripe_2}\n", 1),
        ("LOC001", "node_local: {file_system: beeond}\n", 0),
        ("LOC002", "node_local: {file_system: beeond, constraint: BEEOND}\n", 0),
        ("LOC002", "node_local: {file_system: beeond, constraint: 256G}\n", 1),
        ("LOC005", "job: {exclusive: false}\nnode_local: {file_system: beeond}\n", 0),  # the partition is exclusive
        ("LOC005", "job: {partition: shared, exclusive: false}\nnode_local: {file_system: beeond}\n", 1),
        ("LOC005", "job: {partition: shared, exclusive: true}\nnode_local: {file_system: beeond}\n", 0),
        ("LOC005", "job: {partition: shared}\nnode_local: {file_system: beeond}\n", 0),
        ("MPI007", "mpi: {implementation: openmpi}\nenvironment: {OMPI_MCA_io: ompio}\n", 0),
        ("MPI007", "mpi: {implementation: openmpi}\nenvironment: {I_MPI_DEBUG: '4'}\n", 1),
        ("MPI007", "mpi: {implementation: intel}\nenvironment: {I_MPI_DEBUG: '4'}\n", 0),
        ("MPI007", "mpi: {implementation: intel}\nenvironment: {HOME: /}\n", 0),
        ("MPI023", "mpi: {implementation: intel}\nenvironment: {I_MPI_DEBUG: '4'}\n", 0),
        ("MPI023", "mpi: {implementation: intel}\nenvironment: {I_MPI_DEBUGG: '4'}\n", 1),
        ("MPI023", "mpi: {implementation: intel}\nenvironment: {I_MPI_NOTHING_THAT_IS_NEAR_TO_ANY: '4'}\n", 0),
        ("MPI023", "environment: {DEBUGG: '4'}\n", 0),
        ("DSH004", "darshan: true\nenvironment: {DARSHAN_ENABLE_NONMPI: '1'}\n", 1),
        ("DSH004", "darshan: true\n", 0),
        ("LUS008", "lustre: {input: {stripe_count: 4}}\ninput_files: {a.nc: {source: /x/a.nc, method: copy}}\n", 0),
        ("LUS008", "lustre: {input: {stripe_count: 4}}\ninput_files: {a.nc: {source: /x/a.nc, method: link}}\n", 1),
        ("LUS008", "input_files: {a.nc: {source: /x/a.nc, method: link}}\n", 0),
        ("SLM003", "job: {nodes: 512}\n", 0),
        ("SLM003", "job: {nodes: 513}\n", 1),
        ("SLM003", "job: {partition: 'compute,shared', nodes: 513}\n", 0),  # of one nobody knows the limit
        ("SLM008", 'job: {time: "40:00"}\n', 1),
        ("SLM008", 'job: {time: "00:40:00"}\n', 0),
        ("SLM009", "job: {mem: 10G}\n", 0),
        ("SLM009", "job: {mem_per_cpu: 1G}\n", 0),
        ("SLM009", "job: {mem: 10G, mem_per_cpu: 1G}\n", 1),
        ("SLM014", 'job: {job_name: a/b, output: "%x.log"}\n', 1),
        ("SLM014", 'job: {job_name: a/b, output: "%j.log", error: "%j.err"}\n', 0),
        ("SLM014", 'job: {job_name: ab, output: "%x.log"}\n', 0),
        ("SLM014", 'job: {job_name: a/b, output: "%j.log", error: "%x.err"}\n', 1),
        ("SLM015", 'job: {output: "logs/%j.log"}\n', 1),
        ("SLM015", 'job: {output: "logs/%j.log", error: "logs/%j.err"}\n', 2),
        ("SLM015", 'job: {output: "%j.log"}\n', 0),
        ("SLM015", 'job: {output: "/logs/%j.log"}\n', 0),
        ("SLM015", 'job: {output: "$HOME/%j.log"}\n', 0),  # another rule's
        ("SLM017", "job: {nodes: 2, ntasks: 2, ntasks_per_node: null}\n", 0),
        ("SLM017", "job: {nodes: 2, ntasks: 1, ntasks_per_node: null}\n", 1),
        ("SLM018", "job: {nodes: 2, ntasks: 200, ntasks_per_node: 100}\n", 0),
        ("SLM018", "job: {nodes: 2, ntasks: 201, ntasks_per_node: 100}\n", 1),
        ("SLM018", "job: {nodes: 2, ntasks: 199, ntasks_per_node: 100}\n", 0),
        ("SLM019", "job: {nodes: 2, ntasks: 200, ntasks_per_node: 100}\n", 0),
        ("SLM019", "job: {nodes: 2, ntasks: 199, ntasks_per_node: 100}\n", 1),
        ("SLM019", "job: {nodes: 2, ntasks: 201, ntasks_per_node: 100}\n", 0),
        ("SLM020", "job: {time: null}\n", 1),
        ("SLM020", 'job: {time: "00:40:00"}\n', 0),
        ("SLM021", "job: {constraint: 256G}\n", 0),
        ("SLM021", "job: {constraint: 512G}\n", 1),
        ("SLM021", "job: {constraint: '256G&512G&1024G'}\n", 2),
        ("SLM021", "job: {constraint: '[256G*1&BEEOND*1]'}\n", 0),
        ("SLM023", 'job: {signal: "B:USR1@60"}\n', 0),
        ("SLM023", 'job: {signal: "B:USR1@59"}\n', 1),
        ("SLM025", f"job: {{comment: {'x' * 1024}}}\n", 0),
        ("SLM025", f"job: {{comment: {'x' * 1025}}}\n", 1),
        ("SLM027", "job: {distribution: cyclic}\nlaunch: {options: [--distribution=cyclic]}\n", 0),
        ("SLM027", "job: {distribution: cyclic}\nlaunch: {options: [--distribution=block]}\n", 1),
        ("SLM027", "job: {distribution: cyclic}\nlaunch: {options: [-m, block]}\n", 1),
        ("SLM027", "job: {distribution: cyclic}\nlaunch: {options: [-m, cyclic]}\n", 0),
        ("SLM027", "job: {distribution: cyclic}\nlaunch: {options: [--cpu-bind=cores]}\n", 0),
        ("SLM027", "job: {distribution: cyclic}\nlaunch: {command: mpirun, options: [--distribution=block]}\n", 0),
        ("SLM027", "launch: {options: [--distribution=block]}\n", 0),
        ("MPI004", "mpi: {implementation: intel}\nenvironment: {I_MPI_EXTRA_FILESYSTEM_FORCE: lustre}\n", 0),
        ("MPI004", "mpi: {implementation: intel}\nenvironment: {I_MPI_EXTRA_FILESYSTEM_FORCE: LUSTRE}\n", 0),
        ("MPI011", 'mpi: {hints: {cb_buffer_size: "4194304"}}\n', 1),
        ("MPI011", 'mpi: {hints: {cb_nodes: "4"}}\n', 0),
        ("LUS005", "parallel: {pio_type: 1}\nlustre: {output: {stripe_count: 1}}\n", 0),
        ("LUS005", "parallel: {pio_type: 2, num_io_procs: 1}\nlustre: {output: {stripe_count: 1}}\n", 0),
        ("LUS005", "parallel: {pio_type: 2, num_io_procs: 2}\nlustre: {output: {stripe_count: 1}}\n", 1),
        ("LUS005", "parallel: {pio_type: 2, num_io_procs: 2}\nlustre: {output: {stripe_count: 2}}\n", 0),
        ("LUS005", "parallel: {pio_type: 2, num_io_procs: 2}\n", 0),
        ("OUT015", LAST_IO.format(256), 1),
        ("OUT015", LAST_IO.format(257), 0),  # more than ICON has room for, which another rule finds
        ("MPI021", SHARED.format(1, 1), 0),
        ("MPI021", SHARED.format(2, 1), 1),
        ("MPI021", SHARED.format(2, 2), 0),
        ("REL003", with_release("2025.10", STREAM.format("filetype: 999") + "parallel: {num_io_procs: 1}\n"), 1),
        ("REL003", with_release("2025.10", STREAM.format("filetype: 999") + "parallel: {num_io_procs: 0}\n"), 0),
        ("REL003", with_release("2025.10", STREAM.format("filetype: 4") + "parallel: {num_io_procs: 1}\n"), 0),
    ],
)
def test_both_sides(code: str, text: str, expected: int, tmp_path: Path) -> None:
    assert count(code, text, tmp_path) == expected


@pytest.mark.parametrize(
    ("form", "stop", "expected"),
    [
        ("out_<jfile>", "2008-11-09T10:20:00Z", 0),  # 9999 times
        ("out_<jfile>", "2008-11-09T10:30:00Z", 1),
        ("out_<total_index>", "2008-11-09T10:30:00Z", 1),
        ("out_<datetime2>_<jfile>", "2008-11-09T10:30:00Z", 0),
        ("out", "2008-11-09T10:30:00Z", 0),
    ],
)
def test_a_counter_has_four_digits(form: str, stop: str, expected: int, tmp_path: Path) -> None:
    text = f"output_interval: PT10M, file_interval: PT10M, filename_format: {form}, stream_partitions_ml: 1"
    assert count("OUT024", f"time: {{stop: {stop}}}\n{STREAM.format(text)}", tmp_path) == expected


@rows(
    ("second", "said", "expected"),
    [
        (grid(5000, 6, NEST, GLOBAL), 0, 0),
        (grid(5000, 7, NEST, GLOBAL), 0, 1),  # two levels finer
        (grid(5000, 5, NEST, GLOBAL), 0, 1),
        (grid(5000, 6, NEST, OCEAN), 0, 1),  # nobody has the grid that it was made for
        (grid(5000, 6, NEST, OCEAN), 1, 0),  # but somebody says it
        (grid(5000, 6, NEST, OCEAN), 2, 1),  # in itself
        (grid(5000, 6, NEST, OCEAN), 3, 1),
        (grid(5000, 6, NEST, GLOBAL), 1, 0),
        (grid(5000, 6, NEST, GLOBAL), 2, 1),  # somebody says otherwise
        (grid(5000, 6, NEST, OCEAN), -1, 1),
        (header({"cell": 5000}, {"grid_root": 2, "grid_level": 6}), 0, 1),
        (header({"cell": 5000}, {"uuidOfHGrid": NEST, "uuidOfParHGrid": GLOBAL, "grid_root": 2}), 0, 0),
        (
            header({"cell": 5000}, {"uuidOfHGrid": NEST, "uuidOfParHGrid": GLOBAL, "grid_root": 3, "grid_level": 6}),
            0,
            1,
        ),
    ],
)
def test_a_nest_is_one_level_finer(
    second: bytes, said: int, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.nc").write_bytes(grid(81920, 5, GLOBAL))
    (tmp_path / "second.nc").write_bytes(second)
    text = "model: {directory: null}\ninput_files: {second.nc: {source: second.nc}, first.nc: {source: first.nc}}\n"
    text += "namelists: {grid_nml: {dynamics_grid_filename: [first.nc, second.nc]"
    text += f", dynamics_parent_grid_id: [0, {said}]}}}}\n" if said else "}}\n"
    assert count("GRD012", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("third", "said", "expected"),
    [
        (grid(9000, 7, "9", NEST), 0, 0),
        (grid(9000, 7, "9", NEST), 2, 0),
        (grid(9000, 7, "9", NEST), 1, 1),  # it was made for the second
        (grid(9000, 6, "9", NEST), 0, 1),
        (b"", 0, 0),  # nobody can read it
    ],
)
def test_a_nest_in_a_nest(
    third: bytes, said: int, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in zip(
        "abc", (grid(81920, 5, GLOBAL), grid(5000, 6 if third else 7, NEST, GLOBAL), third), strict=True
    ):
        (tmp_path / f"{name}.nc").write_bytes(data)
    files = ", ".join(f"{name}.nc: {{source: {name}.nc}}" for name in "abc")
    text = f"model: {{directory: null}}\ninput_files: {{{files}}}\n"
    text += "namelists: {grid_nml: {dynamics_grid_filename: [a.nc, b.nc, c.nc]"
    text += f", dynamics_parent_grid_id: [0, 1, {said}]}}}}\n" if said else "}}\n"
    assert count("GRD012", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("cells", "name", "said", "expected"),
    [
        (81920, "R2B5", "null", 0),
        (81919, "R2B5", "null", 1),
        (327680, "R2B6", "null", 0),
        (81920, "null", "81920", 0),
        (81920, "null", "81919", 1),
        (81920, "R2B5", "81919", 1),
    ],
)
def test_a_grid_has_the_cells_that_are_said(
    cells: int, name: str, said: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grid.nc").write_bytes(grid(cells, 5, GLOBAL))
    text = f"model: {{directory: null}}\ngrid: {{file: grid.nc, name: {name}, cells: {said}, num_lev: 30}}\n"
    assert count("GRD011", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("uuid", "code", "key"),
    [
        (GLOBAL, "GRD015", ""),
        (OCEAN, "GRD015", "GRD015"),
        ("", "GRD015", ""),
    ],
)
def test_parameters_are_those_of_the_grid(
    uuid: str, code: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grid.nc").write_bytes(grid(81920, 5, GLOBAL))
    (tmp_path / "extpar.nc").write_bytes(header({"cell": 81920}, {"uuidOfHGrid": uuid} if uuid else {}))
    text = "model: {directory: null}\ngrid: {file: grid.nc, num_lev: 30}\n"
    text += "input_files: {extpar.nc: {source: extpar.nc}}\nnamelists:\n  run_nml: {iforcing: 3}\n"
    text += "  extpar_nml: {itopo: 1, extpar_filename: extpar.nc}\n"
    assert count(code, text, tmp_path) == bool(key)


@pytest.mark.parametrize(
    ("mode", "cells", "uuid", "expected"),
    [
        (2, 81920, OCEAN, 0),  # data of another model are told by their cells
        (2, 81919, GLOBAL, 1),
        (1, 81919, GLOBAL, 0),  # a first guess is told by the mark of its grid
        (1, 81920, OCEAN, 1),
    ],
)
def test_initial_data_are_those_of_the_grid(
    mode: int, cells: int, uuid: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grid.nc").write_bytes(grid(81920, 5, GLOBAL))
    (tmp_path / "data.nc").write_bytes(header({"cell": cells}, {"uuidOfHGrid": uuid}))
    text = "model: {directory: null}\ngrid: {file: grid.nc, num_lev: 30}\n"
    text += "input_files: {data.nc: {source: data.nc}}\nnamelists:\n  run_nml: {iforcing: 3, ltestcase: false}\n"
    text += f"  initicon_nml: {{init_mode: {mode}, dwdfg_filename: data.nc, ifs2icon_filename: data.nc}}\n"
    assert count("GRD016", text, tmp_path) == expected


@pytest.mark.parametrize(
    ("time", "link", "expected"),
    [
        ("2008-09-01T00:00:00Z", True, 0),
        ("2008-08-31T23:59:59Z", True, 1),
        ("2008-09-10T23:59:59Z", True, 0),
        ("2008-09-11T00:00:00Z", True, 1),
        (None, True, 0),
        (None, False, 1),
        ("2008-09-01T00:00:00Z", False, 1),
    ],
)
def test_a_chain_starts_from_a_checkpoint_within_the_experiment(
    time: str | None, link: bool, expected: int, tmp_path: Path
) -> None:
    if link:
        (tmp_path / "restart_atm_DOM01.nc").touch()
    said = "" if time is None else f", time: {time}"
    assert count("RST030", f"start_from: {{directory: {tmp_path}{said}}}\n", tmp_path) == expected


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [("20080831T235959Z", 1), ("20080901T000000Z", 0), ("20080910T235959Z", 0), ("20080911T000000Z", 1)],
)
@pytest.mark.parametrize("link", ["restart_atm_DOM01.nc", "multifile_restart_atm.mfr"])
def test_the_time_of_a_checkpoint_is_read_from_its_name(stamp: str, link: str, expected: int, tmp_path: Path) -> None:
    (tmp_path / f"grid_restart_atm_{stamp}.nc").touch()
    (tmp_path / link).symlink_to(f"grid_restart_atm_{stamp}.nc")
    assert count("RST030", f"start_from: {{directory: {tmp_path}}}\n", tmp_path) == expected


@pytest.mark.parametrize(("hour", "expected"), [(0, 0), (6, 0), (12, 1)])
@pytest.mark.parametrize("link", ["restart_atm_DOM01.nc", "multifile_restart_atm.mfr"])
def test_a_checkpoint_of_the_time_is_there(hour: int, expected: int, link: str, tmp_path: Path) -> None:
    for stamp in ("20080903T000000Z", "20080903T060000Z"):
        (tmp_path / f"grid_restart_atm_{stamp}.nc").touch()
    (tmp_path / link).symlink_to("grid_restart_atm_20080903T060000Z.nc")
    said = f"start_from: {{directory: {tmp_path}, time: 2008-09-03T{hour:02}:00:00Z}}\n"
    assert count("RST030", said, tmp_path) == expected


@pytest.mark.parametrize(
    ("branch", "checkpoint", "restart", "expected"),
    [
        ("03T00", "P1D", "P2D", 0),
        ("03T12", "P1D", "P2D", 1),
        ("03T12", "PT12H", "P2D", 0),
        ("02T00", "P2D", "P2D", 1),
        ("02T00", "P2D", "P9D", 0),  # one job
        ("02T00", "P2D", "P1M", 0),
        ("02T00", "P2D", "P3D", 1),
    ],
)
def test_jobs_of_a_branch_end_at_checkpoints(
    branch: str, checkpoint: str, restart: str, expected: int, tmp_path: Path
) -> None:
    said = f"start_from: {{directory: /work/before/run, time: 2008-09-{branch}:00:00Z}}\n"
    intervals = f"restart: {{checkpointTimeIntval: {checkpoint}, restartTimeIntval: {restart}}}\n"
    assert count("RST035", said + intervals, tmp_path) == expected


def test_jobs_of_months_are_not_counted(tmp_path: Path) -> None:
    """As the ends of jobs are months from the branch, nobody says where they lie."""
    said = "start_from: {directory: /work/before/run, time: 2008-09-02T00:00:00Z}\n"
    months = "time: {stop: 2008-12-01T00:00:00Z}\nrestart: {checkpointTimeIntval: P7D, restartTimeIntval: P1M}\n"
    days = months.replace("P1M", "P10D")
    assert count("RST035", said + months, tmp_path) == 0
    assert count("RST035", said + days, tmp_path) == 1


@pytest.mark.parametrize(
    ("stop", "restart", "expected"),
    [("11T00:00:00Z", "PT25M", 1), ("01T00:25:00Z", "PT25M", 0), ("01T00:35:00Z", "PT25M", 1)],
)
def test_an_interval_of_the_whole_run_needs_no_checkpoint(
    stop: str, restart: str, expected: int, tmp_path: Path
) -> None:
    text = f"time: {{stop: 2008-09-{stop}}}\nrestart: {{restartTimeIntval: {restart}, checkpointTimeIntval: null}}\n"
    assert count("RST007", text, tmp_path) == expected


def test_a_link_to_a_checkpoint_that_was_removed(tmp_path: Path) -> None:
    (tmp_path / "grid_restart_atm_20080903T000000Z.nc").touch()
    (tmp_path / "restart_atm_DOM01.nc").symlink_to("grid_restart_atm_20080904T000000Z.nc")
    assert count("RST030", f"start_from: {{directory: {tmp_path}}}\n", tmp_path) == 1
    assert count("RST030", f"start_from: {{directory: {tmp_path}, time: 2008-09-03T00:00:00Z}}\n", tmp_path) == 0


def test_a_checkpoint_that_is_not_there_is_found_where_it_is_named(tmp_path: Path) -> None:
    """At the time, and without one at the directory."""
    (tmp_path / "restart_atm_DOM01.nc").symlink_to("grid_restart_atm_20080904T000000Z.nc")
    for text, named in ((f"directory: {tmp_path}", str(tmp_path)), (f"time: {DAY}, directory: {tmp_path}", DAY)):
        (finding,) = judge(experiment_of(f"start_from: {{{text}}}\n", tmp_path), [RULES["RST030"]])
        assert finding.span is not None
        assert finding.span.text == named


@pytest.mark.parametrize("time", ["", ", time: 2008-09-03T00:00:00Z"])
def test_a_link_to_a_checkpoint_that_leads_to_itself(time: str, tmp_path: Path) -> None:
    (tmp_path / "restart_atm_DOM01.nc").symlink_to("restart_atm_DOM01.nc")
    assert count("RST030", f"start_from: {{directory: {tmp_path}{time}}}\n", tmp_path) == 1
