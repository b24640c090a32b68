"""Pins which registers tiles get, where they are configured, and what is refused."""

from __future__ import annotations

import re

import pytest
from tile_kernels import Product, block, gemm, nested, read
from tile_machines import source_of

from hbc.codegen.plan.tile_plan import plan_tiles
from hbc.ir.ground.diag import HbcError, InternalError
from hbc.ir.lang.kernel import Kernel

BF16 = Product("tdpbf16ps", 16, 16, 32)
SMALL = Product("tdpbf16ps", 8, 16, 32)


def computing(kernel: Kernel) -> str:
    """The C of the computing function."""
    text = source_of(kernel).text
    start = text.index(f"{kernel.name}_compute(")
    return text[start : text.index("\n}\n", start)]


def registers(kernel: Kernel) -> dict[str, int]:
    """Of a kernel with one configuration."""
    (region,) = plan_tiles(kernel.body, kernel.instructions).regions.values()
    return dict(region.registers)


def straight(statements: list[str], *allocations: str, p: Product = BF16) -> Kernel:
    """A kernel of one block of tiles."""
    body = nested(list(allocations), statements)
    return read(f"{p.header('straight', '16', '16', '16')}{{\n{body}\n}}")


def test_tiles_in_turn_share_a_register() -> None:
    found = registers(gemm(BF16, 1, 6))
    assert {found[f"b_{j}"] for j in range(6)} == {7}
    assert sorted({*found.values()}) == list(range(8))


def test_tiles_at_once_do_not() -> None:
    found = registers(gemm(BF16, 3, 1))
    assert len({found[f"acc_{n}"] for n in range(3)} | {found[f"a_{n}"] for n in range(3)}) == 6


def test_as_long_as_there_are_registers_none_is_shared() -> None:
    found = registers(gemm(BF16, 2, 2))
    assert sorted(found.values()) == list(range(8))


def test_other_shapes_have_other_registers() -> None:
    found = registers(gemm(Product("tdpbf16ps", 8, 16, 32), 1, 1))
    assert len({found["acc_0"], found["a_0"], found["b_0"]}) == 3


def test_a_tile_that_a_loop_carries_keeps_its_register() -> None:
    """What is loaded before a loop is read in each iteration, also behind where others are loaded."""
    body = [
        BF16.load(1, "a", "A", "0", "A_stride0"),
        BF16.zero("acc"),
        "for i from 0 count P {\n"
        + nested(
            [BF16.allocate(2, "b"), BF16.allocate(1, "other")],
            [
                BF16.load(2, "b", "B", "0", "B_stride0"),
                BF16.multiply("acc", "a", "b"),
                BF16.load(1, "other", "A", "i", "A_stride0"),
                BF16.multiply("acc", "other", "b"),
            ],
        )
        + "\n}",
        BF16.store("acc", "C", "0", "C_stride0"),
    ]
    found = registers(straight(body, BF16.allocate(0, "acc"), BF16.allocate(1, "a")))
    assert len(set(found.values())) == 4


def test_one_configuration_around_everything() -> None:
    text = computing(gemm(BF16, 2, 2))
    assert text.count("_tile_loadconfig") == 1
    assert text.index("_tile_loadconfig") < text.index("for (")
    assert text.rstrip().endswith("_tile_release();")
    assert ".rows = {16, 16, 16, 16, 16, 16, 16, 16}" in text
    assert ".row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}" in text


def test_two_nests_share_a_configuration() -> None:
    nests = f"{block(BF16, 1, 1)}\n{block(BF16, 1, 2, end='_more')}"
    kernel = read(f"{BF16.header('nests', 'P * 16', 'Q * 32', 'S * 16')}{{\n{nests}\n}}")
    assert computing(kernel).count("_tile_loadconfig") == 1


def test_each_thread_of_a_parallel_loop_configures_once() -> None:
    text = computing(gemm(BF16, 2, 2, outer="parallel"))
    assert re.search(r"omp parallel(?: if.*)?\n *\{\n *enum \{.*\};\n", text)
    assert text.count("_tile_loadconfig") == text.count("_tile_release") == 1
    assert text.index("_tile_loadconfig") < text.index("omp for") < text.index("for (int64_t io")
    assert text.index("int64_t jo") < text.index("_tile_release")


def test_iterations_of_two_configurations_configure_both() -> None:
    nests = f"{block(BF16, 2, 2)}\n{block(SMALL, 2, 2, end='_small')}"
    body = f"parallel n from 0 count S {{\n{nests}\n}}"
    text = computing(read(f"{BF16.header('both', 'P * 32', 'Q * 32', 'S * 16')}{{\n{body}\n}}"))
    assert text.count("_tile_loadconfig") == text.count("_tile_release") == 2
    assert text.index("for (int64_t n") < text.index("_tile_loadconfig")


def test_shapes_that_do_not_fit_are_configured_in_turn() -> None:
    nests = f"{block(BF16, 2, 2)}\n{block(SMALL, 2, 2, end='_small')}"
    kernel = read(f"{BF16.header('nests', 'P * 32', 'Q * 32', 'S * 16')}{{\n{nests}\n}}")
    text = computing(kernel)
    assert text.count("_tile_loadconfig") == text.count("_tile_release") == 2
    assert "ACC_SMALL_0" in text


def test_memory_in_between() -> None:
    """The registers are released on every way out."""
    allocated = "allocate room: f32[io * 16] in heap {\nroom[0] = 0.0:f32\n"
    text = block(BF16, 1, 1).replace("for jo", allocated + "for jo", 1) + "\n}"
    kernel = read(f"{BF16.header('memory', 'P * 16', 'Q * 16', 'S * 16')}{{\n{text}\n}}")
    printed = computing(kernel)
    assert re.search(r"== NULL\) \{\n *_tile_release\(\);\n *return memory_MEMORY;", printed)


def test_no_memory_in_an_iteration_of_a_thread() -> None:
    """The next iteration finds the registers as they were."""
    allocated = "allocate room: f32[io * 16] in heap {\nroom[0] = 0.0:f32\n"
    text = block(BF16, 1, 1, "parallel").replace("for jo", allocated + "for jo", 1) + "\n}"
    kernel = read(f"{BF16.header('memory', 'P * 16', 'Q * 16', 'S * 16')}{{\n{text}\n}}")
    printed = computing(kernel)
    assert re.search(r"== NULL\) \{\n *#pragma omp atomic write\n *status = memory_MEM", printed)
    assert printed.count("_tile_release") == 1


def test_nine_tiles_are_refused() -> None:
    with pytest.raises(HbcError) as refused:
        source_of(gemm(BF16, 1, 7))
    said = str(refused.value)
    assert "9 tile registers are needed at once, and there are 8" in said
    assert "7 for `acc`, 1 for `a`, 1 for `b`" in said
    assert "keep fewer tiles of `acc`" in said


def test_a_tile_of_two_shapes_is_refused() -> None:
    p, q = BF16, Product("tdpbf16ps", 8, 16, 32)
    tall = "a.bf16x512[ramp(0, 1, 512)]"
    body = [
        p.zero("acc"), q.zero("low"),
        p.load(1, "a", "A", "0", "A_stride0"), p.load(2, "b", "B", "0", "B_stride0"),
        p.multiply("acc", "a", "b"),
        p.multiply("acc", "b", "a"),
        p.store("acc", "C", "0", "C_stride0"),
    ]  # fmt: skip
    assert tall in body[4]
    kernel = straight(
        [b for b in body if "low" not in b],
        p.allocate(0, "acc"), p.allocate(1, "a"), p.allocate(2, "b"),
    )  # fmt: skip
    assert registers(kernel)  # both are 16 rows of 64 bytes: the same shape
    narrow = Product("tdpbf16ps", 16, 8, 32)
    wide = Product("tdpbf16ps", 8, 16, 32)
    assert narrow.allocate(0, "acc") == wide.allocate(0, "acc")
    twice = [
        narrow.zero("acc"),
        narrow.load(1, "a", "A", "0", "A_stride0"), narrow.load(2, "b", "B", "0", "B_stride0"),
        narrow.multiply("acc", "a", "b"),
        wide.load(1, "c", "A", "0", "A_stride0"), wide.load(2, "d", "B", "0", "B_stride0"),
        wide.multiply("acc", "c", "d"),
        narrow.store("acc", "C", "0", "C_stride0"),
    ]  # fmt: skip
    kernel = straight(
        twice, narrow.allocate(0, "acc"), narrow.allocate(1, "a"), narrow.allocate(2, "b"),
        wide.allocate(1, "c"), wide.allocate(2, "d"),
    )  # fmt: skip
    message = "a tile of `acc` is used as 16 rows of 8 and as 8 rows of 16 elements"
    with pytest.raises(HbcError, match=message):
        source_of(kernel)


def test_a_tile_over_the_edge_of_a_parallel_loop_is_refused() -> None:
    body = [
        BF16.zero("acc"),
        "parallel i from 0 count P {\n"
        + nested(
            [BF16.allocate(1, "a"), BF16.allocate(2, "b")],
            [
                BF16.load(1, "a", "A", "0", "A_stride0"),
                BF16.load(2, "b", "B", "0", "B_stride0"),
                BF16.multiply("acc", "a", "b"),
            ],
        )
        + "\n}",
        BF16.store("acc", "C", "0", "C_stride0"),
    ]
    with pytest.raises(HbcError, match="carried into or out of the parallel loop `i`"):
        source_of(straight(body, BF16.allocate(0, "acc")))


def test_sums_that_outlast_a_configuration_are_refused() -> None:
    """Four sums are kept while nine shapes come and go."""
    rows = [Product("tdpbf16ps", 16, 16, k) for k in (2, 4, 6, 8)]
    body = [BF16.zero("acc")]
    allocated = [BF16.allocate(0, "acc")]
    for n, p in enumerate(rows):
        a, b = f"x{n}", f"y{n}"
        allocated += [p.allocate(1, a), p.allocate(2, b)]
        body += [
            p.load(1, a, "A", "0", "A_stride0"),
            p.load(2, b, "B", "0", "B_stride0"),
            p.multiply("acc", a, b),
        ]
    body.append(BF16.store("acc", "C", "0", "C_stride0"))
    message = "a tile of `acc` is kept while tiles of 9 shapes are used, and the 8 registers"
    with pytest.raises(HbcError, match=message):
        source_of(straight(body, *allocated))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("acc[ramp(0, 1, 256)] = x256(1.0:f32)", "no instruction does this to the tile `acc`"),
        ("acc[ramp(0, 1, 16)] = x16(0.0:f32)", "no instruction does this to the tile `acc`"),
        ("C[ramp(0, 1, 16)] = acc.f32x16[ramp(0, 1, 16)]", "a part of a tile is read for `C`"),
        ("acc[ramp(0, 1, 256)] = A.bf16x256[ramp(0, 2, 256)]", "is not contiguous in memory"),
    ],
)
def test_what_no_instruction_does_is_a_bug(statement: str, message: str) -> None:
    statement = statement.replace("A.bf16x256", "C.f32x256")
    body = [BF16.zero("acc"), BF16.load(1, "a", "A", "0", "A_stride0"),
            BF16.load(2, "b", "B", "0", "B_stride0"), statement,
            BF16.multiply("acc", "a", "b"), BF16.store("acc", "C", "0", "C_stride0")]  # fmt: skip
    allocated = BF16.allocate(0, "acc"), BF16.allocate(1, "a"), BF16.allocate(2, "b")
    with pytest.raises(InternalError, match=message):
        source_of(straight(body, *allocated))
