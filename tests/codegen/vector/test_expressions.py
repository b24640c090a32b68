"""Random expressions, several operators deep: parentheses, promotion, wrapping, nested vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from compilers import compiler_named
from lanes import QUICK, Case, Read, disagreements, finish, make_kernel
from random_expressions import (
    random_case,
)

from hbc.codegen.build.toolchain import build
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang.nodes import Expr
from hbc.ir.lang.target import TARGETS

# The simplifier decides `u8 >= 0` and `x & 12 == 3`; here it has not run.
_UNDECIDED = (*QUICK, "-Wno-type-limits", "-Wno-tautological-compare")


def test_scalars(target: str, tmp_path: Path) -> None:
    cases = [random_case(seed, 4) for seed in range(200)]
    assert disagreements(cases, target, 1, tmp_path, _UNDECIDED) == []


def test_vectors(target: str, tmp_path: Path) -> None:
    cases = [random_case(seed, 3) for seed in range(1000, 1040)]
    lanes = 16 if TARGETS[target].vector_bits else 2
    assert disagreements(cases, target, lanes, tmp_path, _UNDECIDED) == []


@pytest.mark.parametrize("command", ["gcc", "clang"])
def test_simplified_expressions_give_no_warning(command: str, tmp_path: Path) -> None:
    compiler = compiler_named(command)
    cases = [replace(c, value=_simplified(c)) for c in (random_case(s, 4) for s in range(300, 500))]
    source = finish(make_kernel(cases, 1)[0], "c")
    build(source, TARGETS["c"], tmp_path / "k.o", "obj", compiler=compiler, extra=QUICK)


def _simplified(case: Case) -> Callable[[Read], Expr]:
    return lambda read: simplify(case.value(read))
