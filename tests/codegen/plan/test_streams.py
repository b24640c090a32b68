"""Which tiles are loaded past the first cache: operands that come again later than another one, where more
passes by in between than that cache holds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tile_kernels import Product, nested, read
from tile_machines import source_of

from hbc.codegen.plan.tile_plan import plan_tiles
from hbc.codegen.plan.tile_steps import label
from hbc.ir.lang.kernel import Kernel

BF16 = Product("tdpbf16ps", 16, 16, 32)


Loops = tuple[tuple[str, str], ...]


def product(loops: Loops, a: str, b: str, first: str = "") -> Kernel:
    """One tile of sums in these loops, given as names and extents; where its operands begin, the latter in
    terms of `first` where that is given, which is bound outside of the innermost loop."""
    p = BF16
    step = [
        p.load(1, "a", "A", a, "A_stride0"),
        p.load(2, "b", "B", b, "B_stride0"),
        p.multiply("acc", "a", "b"),
    ]
    body = nested([p.allocate(1, "a"), p.allocate(2, "b")], step)
    for n, (var, extent) in enumerate(reversed(loops)):
        body = f"for {var} from 0 count {extent} {{\n{body}\n}}"
        if n == 0 and first:
            body = f"let first = {first} in {{\n{body}\n}}"
    stored = p.store("acc", "C", "0", "C_stride0")
    body = nested([p.allocate(0, "acc")], [p.zero("acc"), body, stored])
    return read(p.header("t", "P * 16", "Q * 16", "S * 16") + "{\n" + body + "\n}\n")


def streams(kernel: Kernel) -> set[str]:
    return {
        label(t) for t in plan_tiles(kernel.body, kernel.instructions, kernel.usual_sizes).streams
    }


GEMM = (("io", "P"), ("jo", "Q"), ("ko", "S"))
OTHER = (("jo", "Q"), ("io", "P"), ("ko", "S"))
OF_A, OF_B = "16 * io * A_stride0 + 32 * ko", "16 * jo * B_stride1 + 16 * ko * B_stride0"


@pytest.mark.parametrize(
    ("loops", "a", "b", "expected"),
    [
        (GEMM, OF_A, OF_B, {"b"}),  # A comes again for the next columns, B for the next rows
        (OTHER, OF_A, OF_B, {"a"}),
        (GEMM[1:], "32 * ko", OF_B, set()),  # B never comes again
        (GEMM[::2], OF_A, "16 * ko * B_stride0", set()),
        (GEMM, "32 * ko", "16 * ko * B_stride0", set()),  # both come again at once
        # So little passes by in between that both stay, 32 KB, or that A does, 20 of them, beside B.
        ((*GEMM[:2], ("ko", "16")), OF_A, OF_B, set()),
        ((*GEMM[:2], ("ko", "20")), OF_A, OF_B, set()),
        ((*GEMM[:2], ("ko", "21")), OF_A, OF_B, {"b"}),
        # Windows of an image: a step further they are the rows that were there, but for one.
        ((*GEMM[:2], ("s", "3"), ("ko", "10")), f"{OF_A} + s * A_stride0", f"{OF_B} + s * 9", set()),
        ((*GEMM[:2], ("s", "3"), ("ko", "10")), f"{OF_A} + s * 9", f"{OF_B} + s * 9", {"b"}),
        ((*OTHER[:2], ("s", "3"), ("ko", "10")), f"{OF_A} + s * A_stride0", f"{OF_B} + s * 9", set()),
    ],
)  # fmt: skip
def test_what_comes_again_later_is_streamed(
    loops: Loops, a: str, b: str, expected: set[str]
) -> None:
    assert streams(product(loops, a, b)) == expected


@pytest.mark.parametrize(("steps", "expected"), [(20, set()), (21, {"b"})])
def test_what_stays_goes_by_the_usual_sizes(steps: int, expected: set[str]) -> None:
    kernel = product(GEMM, OF_A, OF_B)
    sizes = tuple(replace(s, usual=steps if s.name == "S" else None) for s in kernel.sizes)
    assert streams(replace(kernel, sizes=sizes)) == expected


def test_a_name_varies_with_the_loops_that_its_value_does() -> None:
    """B begins at a name that is bound to an expression of the loop over columns."""
    kernel = product(
        GEMM, OF_A, "first + 16 * ko * B_stride0", "min(16 * jo, Q * 16 - 16) * B_stride1"
    )
    assert streams(kernel) == {"b"}


def test_the_instruction_is_that_of_the_description() -> None:
    text = source_of(product(GEMM, OF_A, OF_B)).text
    compute = text[text.index("t_compute(") :]
    assert compute.count("_tile_stream_loadd(") == 1 and "_tile_stream_loadd(B" in compute
    assert compute.count("_tile_loadd(") == 1 and "_tile_loadd(A" in compute
