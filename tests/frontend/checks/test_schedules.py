"""Pins what the lines of schedule blocks become."""

import pytest

from hbc.frontend.checks.check import check
from hbc.frontend.directives.table import DIRECTIVES
from hbc.frontend.program.funcs import Schedule, Stage
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.nodes import Var
from hbc.ir.lang.show import show
from hbc.ir.lang.target import TARGETS
from hbc.ir.vectors.lane_limit import MOST_LANES

GEMM = """
size M, N, K
param V: i64 = 16
input A: f32[M, K]
input B: f32[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j] = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j] = acc[i, j]
"""


def schedule(lines: str, targets: str = "c") -> Schedule:
    text = f"{GEMM}schedule s for {targets} {{ {lines} }}"
    (only,) = check(parse(Source("test.hb", text)), {}).schedules
    return only


@pytest.mark.parametrize(
    ("line", "args"),
    [
        ("C.split(i, io, ii, 8)", ("i", "io", "ii", 8)),
        ("C.split(i, io, ii, V / 2)", ("i", "io", "ii", 8)),
        ("C.tile(i, j, io, jo, ii, ji, 4, 8)", ("i", "j", "io", "jo", "ii", "ji", 4, 8)),
        ("C.fuse(i, j, ij)", ("i", "j", "ij")),
        ("C.reorder(j, i)", ("j", "i")),
        ("C.unroll(i)", ("i",)),
        ("C.vectorize(j, V)", ("j", 16)),
        ("C.parallel(i, 4)", ("i", 4)),
        ("C.pipeline(i, 2)", ("i", 2)),
        ("acc.compute_at(C, j)", (Stage("C"), "j")),
        ("acc.store_at(C, i)", (Stage("C"), "i")),
        ("B.in(acc).compute_at(acc.update, k)", (Stage("acc", 0), "k")),
        ("acc.compute_root()", ()),
        ("acc.store_root", ()),
        ("acc.store_in(stack)", ("stack",)),
        ("acc.bound(i, -4, 64)", ("i", -4, 64)),
        ("acc.bound(i, 0, M)", ("i", 0, Var("M"))),
        ("acc.vectorize(j, 8).unroll(j_v)", ("j", 8)),
        ("acc.reorder_storage(j, i)", ("j", "i")),
        ("acc.pad_storage(j, 0)", ("j", 0)),
        ("acc.update.prefetch(A, k, 2)", ("A", "k", 2)),
        ("acc.update.prefetch(A, k, 2, L3)", ("A", "k", 2, "L3")),
        ("acc.update.atomic()", ()),
        ("acc.update.rfactor(k, u)", ("k", "u")),
        ("C.gpu_blocks(i, j)", ("i", "j")),
        ("C.gpu_lanes(j)", ("j",)),
    ],
)
def test_directives(line: str, args: tuple[object, ...]) -> None:
    (only,) = schedule(line).lines
    assert only.directives[0].args == args


def test_every_directive_can_be_written_as_its_row_says() -> None:
    for name, form in DIRECTIVES.items():
        assert form.written.startswith(f"{name}(")


def test_options() -> None:
    (line,) = schedule("C.split(i, io, ii, 8, tail = mask).vectorize(j, 8, tail = guard)").lines
    assert [d.option("tail") for d in line.directives] == ["mask", "guard"]


def test_specialize() -> None:
    (line,) = schedule("C.specialize(N % 16 == 0 and M > 4).vectorize(j, 16)").lines
    condition = line.directives[0].args[0]
    assert not isinstance(condition, (str, int, Stage))
    assert show(condition) == "N % 16 == 0 & M > 4"


def test_stages() -> None:
    lines = schedule("acc.unroll(j); acc.update.unroll(j); acc.update(0).unroll(j);"
                     "A.in(acc).compute_root(); acc.in(C).compute_root()").lines  # fmt: skip
    assert [line.stage for line in lines] == [
        Stage("acc"), Stage("acc", 0), Stage("acc", 0), Stage("A", None, "acc"),
        Stage("acc", None, "C"),
    ]  # fmt: skip


def test_funcs_of_rfactor_can_be_scheduled() -> None:
    lines = schedule("acc.update.split(k, ko, ki, 8).rfactor(ki, u);"
                     "acc_u.compute_root().vectorize(u); acc_u.update.reorder(ko, u)")  # fmt: skip
    assert [line.stage.name for line in lines.lines] == ["acc", "acc_u", "acc_u"]


def test_targets() -> None:
    found = schedule("C.unroll(j, 2)", ", ".join(TARGETS))
    assert found.targets == tuple(TARGETS)


def test_as_many_lanes_as_allowed() -> None:
    assert schedule(f"C.vectorize(j, {MOST_LANES})").lines
    assert schedule("acc.store_in(amx_tile).vectorize(i, 64).vectorize(j, 64)").lines
