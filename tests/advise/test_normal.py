"""Cholesky factors of matrices, full or with zeros at the beginnings of rows."""

from __future__ import annotations

import pytest

from nmlgen.advise.normal import cholesky, inverse, solve

FULL = [[4.0, 1.0, 2.0, 1.0], [1.0, 5.0, 1.0, 2.0], [2.0, 1.0, 6.0, 1.0], [1.0, 2.0, 1.0, 7.0]]
SPARSE = [[4.0, 1.0, 0.0, 1.0], [1.0, 5.0, 0.0, 2.0], [0.0, 0.0, 6.0, 1.0], [1.0, 2.0, 1.0, 7.0]]
HIDDEN = [[4.0, 1.0, 2.0, 1.0], [1.0, 5.0, 0.0, 2.0], [2.0, 0.0, 6.0, 0.0], [1.0, 2.0, 0.0, 7.0]]
"""Zeros that are none in the factor."""


@pytest.mark.parametrize("matrix", [FULL, SPARSE, HIDDEN], ids=["full", "sparse", "hidden"])
def test_times_its_inverse_a_matrix_is_one(matrix):
    lower = cholesky(matrix)
    for i, row in enumerate(inverse(lower)):
        unit = [float(i == j) for j in range(4)]
        assert [sum(a * b for a, b in zip(row, column, strict=True)) for column in matrix] == pytest.approx(unit)
        assert solve(lower, unit) == row
    assert [sum(a * b for a, b in zip(lower[3], [*row, 0.0, 0.0, 0.0], strict=False)) for row in lower] == (
        pytest.approx(matrix[3])
    )


def test_not_positive_definite():
    with pytest.raises(ValueError, match="not positive definite"):
        cholesky([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [2.0, 0.0, 1.0]])
