from __future__ import annotations

import pytest
from specs import changed

import nmlgen
from nmlgen.experiment.striping import osts


def test_osts_of_a_list():
    assert osts("0,2-4,7") == (0, 2, 3, 4, 7)
    assert osts("3-1") == ()


def test_of_a_list_with_more_than_there_are_indices_so_many():
    assert len(osts(",".join(["0-65532"] * 2000))) == 65_533


@pytest.mark.parametrize("listed", ["010", "0-010", "1,08", "100000"])
def test_what_lfs_reads_otherwise_is_refused(listed):
    with pytest.raises(nmlgen.SpecError, match="numbers of OSTs in quotes"):
        nmlgen.load_spec(changed(lustre={"output": {"ost": listed}}))
