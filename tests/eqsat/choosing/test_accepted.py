"""Programs that differ in one thing from one that is known to map: each must map too, and be right.

Sizes are small, and not those of tiles wherever the schedule allows it.
"""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from tensor_changes import BF16_TILES, BYTE_SIZES, BYTE_TILES, ONE, Change
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled
from tensor_programs import LANES, TILES, changed, in_bytes

from hbc.cli.main import exit_code_of
from hbc.ir.lang.nodes import Store, VectorReduce
from hbc.ir.lang.walk import nodes, statements


@pytest.mark.parametrize("what", BF16_TILES)
def test_tiles_of_bf16(what: str) -> None:
    p, kernels = compiled(changed(TILES, *BF16_TILES[what]), "amx")
    assert_selected(kernels["select"])
    sizes = (
        ONE | ({"K": 128} if "128" in what else {}) | ({"M": 32, "N": 32} if "32" in what else {})
    )
    if "2 x 2" in what or "32" in what:
        sizes |= {"N": 64, "M": 32}
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], sizes)


@pytest.mark.parametrize("what", BYTE_TILES)
def test_tiles_of_bytes(what: str) -> None:
    p, kernels = compiled(changed(in_bytes(TILES), *BYTE_TILES[what]), "amx")
    assert_selected(kernels["select"])
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"M": 32, "N": 48, "K": BYTE_SIZES.get(what, 128)})


@pytest.mark.parametrize("count", [2, 5])
def test_several_products_in_one_update(count: int) -> None:
    """Each is an instruction of its own, also in the tail of the sum."""
    product = "f32(A[i, k]) * f32(B[k, j])"
    others = "".join(f" + f32(A[i, k]) * f32(D[{n}, k, j])" for n in range(count - 1))
    text = changed(
        LANES, (product, product + others), ("output C", "input  D: bf16[4, K, N]\noutput C")
    )
    p, kernels = compiled(text, "avx512bf16")
    for update in (s for s in statements(kernels["select"].body) if isinstance(s, Store)):
        assert not any(isinstance(n, VectorReduce) for n in nodes(update.value))
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"M": 5, "N": 40, "K": 7})


@pytest.mark.parametrize("sizes", [{"M": 5, "N": 20, "K": 70}, {"M": 33, "N": 7, "K": 64}], ids=str)
def test_tails_of_bytes_of_another_sign(sizes: dict[str, int]) -> None:
    """The masks of tails are below two casts."""
    change = BYTE_TILES["an operand of another sign"]
    text = changed(in_bytes(TILES), (", tail = exact", ""), *change)
    p, kernels = compiled(text, "amx")
    assert_selected(kernels["select"])
    assert_agrees(p, kernels["hoist"], sizes)


# What Halide 21 refuses for AMX, or compiles to wrong code, one change from what it accepts each.
# Convolutions are in `test_tile_samples`; what has no instruction here either in `refused`.
REFUSED_ELSEWHERE = (
    "row-major B", "transposed B", "K tile of 128", "2 x 2 tiles", "operands swapped", "loops j, k, i",
    "loops j, i, k", "tiles 32 x 16", "tiles 16 x 32", "f16", "a constant inside the sum",
    "bias of columns as initial value", "ReLU in the consumer",
)  # fmt: skip


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the AMX emulator is for x86-64")
@pytest.mark.parametrize(
    "what", [*REFUSED_ELSEWHERE, "widened after the product", "u8 x u8 in u32"]
)
def test_as_machine_code(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bytes_ = what in BYTE_TILES
    changes: tuple[Change, ...] = BYTE_TILES[what] if bytes_ else BF16_TILES[what]
    file = tmp_path / "changed.hb"
    file.write_text(changed(in_bytes(TILES) if bytes_ else TILES, *changes), encoding="utf-8")
    sizes = {"M": 64, "N": 96, "K": 256}
    settings = [a for name, n in sizes.items() for a in ("--set", f"{name}={n}")]
    arguments = ["run", str(file), "--target", "amx", "--verify", "--emulate", *settings]
    assert exit_code_of(arguments) == 0, capsys.readouterr().err
