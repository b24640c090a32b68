"""A share of a table has what the table has, two by two."""

from __future__ import annotations

from itertools import combinations

import pytest
from suite_tables import share


@pytest.mark.parametrize(("of", "lengths"), [(2, (4, 2, 3)), (3, (6, 2, 3, 4, 3)), (3, (5, 3, 4))])
def test_any_two_values_stand_in_one_row(of: int, lengths: tuple[int, ...]) -> None:
    columns = [[f"{n}{at}" for at in range(length)] for n, length in enumerate(lengths)]
    whole, some = share(1, *columns), share(of, *columns, whole=False)
    assert {p for r in whole for p in combinations(r, 2)} == {
        p for r in some for p in combinations(r, 2)
    }
    assert abs(len(whole) / of - len(some)) <= 1
    assert share(of, *columns, whole=True) == whole
