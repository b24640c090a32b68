"""Large tables of configurations: a share of the rows stands for all, which HBC_TEST_TABLES=whole takes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import Any

WHOLE = os.environ.get("HBC_TEST_TABLES") == "whole"


def share(of: int, *columns: Sequence[Any], whole: bool = WHOLE) -> list[tuple[Any, ...]]:
    """One in `of` rows of the table: those whose places in the columns add up to a multiple of it. Any two
    values of two columns stand in one of them, where a third column has as many values as `of`."""
    places = product(*(range(len(column)) for column in columns))
    rows = product(*columns)
    return [row for row, at in zip(rows, places, strict=True) if whole or sum(at) % of == 0]
