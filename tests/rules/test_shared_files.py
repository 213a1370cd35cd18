"""The reports' tables of stripes, each row recommended or warned of; layouts that lfs refuses; what sites recommend."""

from __future__ import annotations

import pytest
from report_tables import HLRN, HLRN_SIZES, HLRS, HLRS_SIZES
from rows import rows
from rules.experiments import experiment_of
from rules.test_examples import BASE, check

from nmlgen.checking import check_experiment
from nmlgen.spec.spec import load_spec

SHARED = "parallel: {pio_type: 2, num_io_procs: 64}\njob: {nodes: 4}\n"
SITE = """\
description: a site with forty OSTs
machine:
  scheduler: slurm
  file_system: lustre
  lustre: {ost_count: 40}
defaults: {launch: {command: srun}}
"""


@pytest.fixture
def shared(tmp_path):
    """What is found of the stripes of a file that 64 ranks write, on 40 OSTs."""
    (tmp_path / "site.yaml").write_text(SITE)

    def find(lustre: str, site: str = "", ranks: int = 64):
        (tmp_path / "site.yaml").write_text(SITE.replace("ost_count: 40", f"ost_count: 40{site}"))
        (tmp_path / "spec.yaml").write_text(f"{SHARED.replace('64', str(ranks))}{lustre}\n")
        spec = load_spec(tmp_path / "spec.yaml", [f"extends={BASE}", f"site={tmp_path / 'site.yaml'}"])
        return [one for one in check_experiment(spec.experiment).findings if one.code.startswith("LUS")]

    return find


def codes(findings):
    return [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("count", "expected"), [(1, "LUS005"), (2, "LUS011"), (4, "LUS011"), (8, "LUS011"), (16, "LUS011"), (24, None)]
)
def test_hlrn(count, expected, shared):
    best = max(max(row) for row in HLRN.values())
    assert (max(HLRN[count]) == best) is (expected is None)
    findings = shared(f"lustre: {{output: {{stripe_count: {count}}}}}")
    assert codes(findings) == ([expected] if expected else [])
    for finding in findings:
        if count > 1:
            assert f"{max(HLRN[count])} MB/s with {count} stripes, {best} with 24" in finding.message


@pytest.mark.parametrize(
    ("count", "expected"), [(4, "LUS011"), (8, "LUS011"), (16, "LUS011"), (32, None), (40, "LUS012")]
)
def test_hlrs(count, expected, shared):
    best = min(min(row) for row in HLRS.values())
    assert (min(HLRS[count]) == best) is (expected is None)
    findings = shared(f"lustre: {{output: {{stripe_count: {count}}}}}")
    assert codes(findings) == ([expected] if expected else [])
    for finding in findings:
        if count < 32:
            assert f"{min(HLRS[count])} s with {count}, {best} with 32" in finding.message


def test_the_layout_of_the_file_system_itself(shared):
    (finding,) = shared("")
    assert finding.code == "LUS010"
    assert "222.3 s so, 134.2 s with 32 stripes (61 %)" in finding.message
    assert codes(shared("lustre: {output: {stripe_count: 0}}")) == ["LUS010"]
    assert codes(shared("mpi: {implementation: mpich, hints: {striping_factor: 32}}")) == []
    assert codes(shared("", ranks=1)) == []
    assert codes(shared("run_directory: /gpfs/run\n", ranks=64)) in ([], ["LUS010"])


def test_the_stripe_size_matters_to_nobody(shared):
    for count, sizes in ((24, HLRN_SIZES), (32, HLRS_SIZES)):
        for size in sizes:
            large = "output: {atm: {file_interval: P10D}}"
            assert codes(shared(f"lustre: {{output: {{stripe_count: {count}, stripe_size: {size}}}}}\n{large}")) == []
    assert all(max(row) < 1.2 * min(row) for row in (*HLRN.values(), *HLRS.values()))


@pytest.mark.parametrize(
    ("ranks", "count", "expected"),
    [
        (2, 2, None),
        (2, 3, "LUS012"),
        (8, 8, None),
        (8, 4, "LUS011"),
        (1, 1, None),
        (2, 1, "LUS005"),
        (48, -1, "LUS012"),
    ],
)
def test_one_process_to_an_ost(ranks, count, expected, shared):
    found = codes(shared(f"lustre: {{output: {{stripe_count: {count}}}}}", ranks=ranks))
    assert found == ([expected] if expected else [])


def test_what_the_site_recommends(shared):
    site = ", max_recommended_stripe_count: 16, recommended_stripe_size: 1M"
    assert codes(shared("lustre: {output: {stripe_count: 16, stripe_size: 4M}}", site)) == []
    assert codes(shared("lustre: {output: {stripe_count: 17, stripe_size: 4M}}", site)) == ["LUS013"]
    assert codes(shared("lustre: {output: {stripe_count: 16, stripe_size: 1536K}}", site)) == ["LUS013"]


@pytest.mark.parametrize(
    ("site", "ranks", "count", "size"),
    [
        ("", 64, 32, "1M"),
        ("", 2, 2, "1M"),
        (", max_recommended_stripe_count: 16, recommended_stripe_size: 2M", 64, 16, "2M"),
        (", max_recommended_stripe_count: 16", 4, 4, "1M"),
    ],
)
def test_auto(site, ranks, count, size, tmp_path):
    (tmp_path / "site.yaml").write_text(SITE.replace("ost_count: 40", f"ost_count: 40{site}"))
    (tmp_path / "spec.yaml").write_text(
        f"{SHARED.replace('64', str(ranks))}lustre: {{output: {{stripe_count: auto, stripe_size: auto}}}}\n"
    )
    spec = load_spec(tmp_path / "spec.yaml", [f"extends={BASE}", f"site={tmp_path / 'site.yaml'}"])
    (block,) = spec.experiment.striping
    assert {name: setting.value for name, setting in block.settings.items()} == {
        "stripe_count": count,
        "stripe_size": size,
    }


@rows(
    ("components", "found"),
    [
        ("64K: {layout: mdt}, eof: {}", []),
        ("1G: {layout: mdt}, eof: {}", []),
        ("2G: {layout: mdt}, eof: {}", ["LUS014"]),
        ("64K: {}, 1M: {layout: mdt}, eof: {}", ["LUS014"]),
        ("64K: {layout: mdt, pool: flash}, eof: {}", ["LUS014"]),
        ("eof: {layout: mdt}", ["LUS014"]),
        ("4M: {stripe_count: 4, stripe_size: 1M}, eof: {}", []),
        ("3M: {stripe_count: 4, stripe_size: 1M}, eof: {}", ["LUS015"]),
        ("2M: {stripe_count: 2}, 3M: {stripe_count: 2}, eof: {}", ["LUS015"]),
        ("64M: {stripe_count: 33}, eof: {stripe_count: 4}", ["LUS001", "LUS013"]),
        ("64M: {stripe_count: 1, stripe_index: 0}, eof: {stripe_count: 4}", ["LUS006"]),
        ('64M: {stripe_count: 1}, eof: {ost: "0-3"}', ["LUS006"]),
        ('64M: {stripe_count: 1}, eof: {ost: "0-3", stripe_count: 4}', ["LUS006"]),
        ('64M: {stripe_count: 1}, eof: {ost: "0-3", stripe_count: 3}', ["LUS006", "LUS014"]),
        ('64M: {stripe_count: 1}, eof: {ost: "0-3", stripe_count: 0}', ["LUS006"]),
        ('64M: {stripe_count: 1}, eof: {ost: "1-3", stripe_index: -1}', ["LUS006"]),
        ('64M: {stripe_count: 1}, eof: {ost: "1-3", stripe_index: 3}', ["LUS006"]),
        ('64M: {stripe_count: 1}, eof: {ost: "1-3", stripe_index: 0}', ["LUS006", "LUS014"]),
        ("64M: {stripe_count: 1, stripe_size: 100K}, eof: {}", ["LUS002", "LUS013", "LUS013"]),
    ],
)
def test_components(components, found, tmp_path):
    findings = check(f"lustre: {{output: {{component_end: {{{components}}}}}}}\n", tmp_path).findings
    assert sorted(finding.code for finding in findings) == found


def test_a_component_fills_as_many_stripes_as_it_is_long(tmp_path):
    components = "2M: {stripe_count: 1}, 6M: {stripe_count: 8, stripe_size: 1M}, eof: {}"
    findings = check(f"lustre: {{output: {{component_end: {{{components}}}}}}}\n", tmp_path).findings
    assert [finding.message for finding in findings if finding.code == "LUS015"] == [
        "the component up to 6M fills 4 of 8 stripes of 1M"
    ]


def test_checkpoints_of_many_files_have_the_first_component(tmp_path):
    wide_at_last = "lustre: {restart: {component_end: {64M: {stripe_count: 1}, eof: {stripe_count: 8}}}}\n"
    assert codes(check(wide_at_last, tmp_path).findings) == []
    wide_at_first = wide_at_last.replace("stripe_count: 1}", "stripe_count: 2}")
    assert codes(check(wide_at_first, tmp_path).findings) == ["LUS003"]


def test_a_shared_file_lies_in_the_last_component(tmp_path):
    text = (
        "parallel: {pio_type: 2}\nlustre: {output: {component_end: {64M: {stripe_count: 1}, eof: {stripe_count: 4}}}}\n"
    )
    assert [one for one in codes(check(text, tmp_path).findings) if one.startswith("LUS")] == []
    text = text.replace("stripe_count: 4", "stripe_count: 1")
    assert [one for one in codes(check(text, tmp_path).findings) if one.startswith("LUS")] == ["LUS005"]
    assert experiment_of(text, tmp_path).striping[0].extents[-1].count == 1
