"""Error codes of kernels with many arrays: each has a value, a kind and a name of its own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from compiled import lowered

from hbc.codegen.c.abi import (
    ALIGN,
    MEMORY,
    NULL,
    OVERLAP,
    REQUIRE,
    Abi,
    code_kind,
    code_value,
    make_abi,
    ordered,
    overlap_pairs,
)
from hbc.codegen.text.names import Scope


def abi(inputs: Sequence[str], outputs: Sequence[str]) -> Abi:
    lines = ["kernel k", "size N", "require N % 2 == 0"]
    lines += [f"input {name}: f32[N]" for name in inputs]
    lines += [f"output {name}: f32[N]" for name in outputs]
    lines += [f"{name}[x] = {inputs[0]}[x]" for name in outputs]
    return make_abi(lowered("\n".join(lines)), Scope())


def test_numbers_beyond_a_thousand() -> None:
    """Small kernels keep the codes that they had; no number reaches another kind's codes."""
    assert code_value(OVERLAP, 999) == OVERLAP + 999
    kinds = (NULL, ALIGN, OVERLAP, REQUIRE, MEMORY)
    values = {code_value(kind, n): kind for kind in kinds for n in range(20_000)}
    assert len(values) == len(kinds) * 20_000
    assert all(code_kind(value) == kind for value, kind in values.items())
    assert max(values) < 1 << 31


@pytest.mark.parametrize("count", [3, 46, 73, 80])
def test_many_outputs(count: int) -> None:
    """80 outputs have 3,240 pairs of arrays that may overlap."""
    found = abi(["I"], [f"O{i}" for i in range(count)])
    assert len({c.value for c in found.codes}) == len({c.name for c in found.codes})
    assert len({c.value for c in found.codes}) == len(found.codes)
    overlaps = [c for c in found.codes if code_kind(c.value) == OVERLAP]
    assert [found.overlapping(c) for c in overlaps] == overlap_pairs(found.kernel)
    assert overlaps[0].value == OVERLAP + 1
    by_name = {c.name: c.value for c in found.codes}
    assert by_name["k_MEMORY"] == MEMORY
    assert by_name["k_REQUIRE_1"] == REQUIRE + 1
    assert by_name["k_NULL_I"] == NULL + 1


def test_names_that_meet() -> None:
    """`a` over `b_c` and `a_b` over `c`; arrays that are called as a code is."""
    found = abi(["c", "b_c", "k_OK", "k_MEMORY"], ["a", "a_b", "k_NULL_c"])
    names = [c.name for c in found.codes]
    assert len(set(names)) == len(names)
    assert not set(names) & {found.names[a.name] for a in ordered(found.kernel)}
