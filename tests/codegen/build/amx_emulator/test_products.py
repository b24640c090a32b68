"""Every product on every shape and on all kinds of values, against the model."""

from __future__ import annotations

import amx_model
import numpy as np
import pytest
from amx_machines import Machine
from amx_products import (
    float_programs,
    int_programs,
    product,
)
from amx_program import FLOAT_PRODUCTS, INT_PRODUCTS


@pytest.mark.parametrize("kind", INT_PRODUCTS)
def test_integers(machine: Machine, kind: str) -> None:
    if not machine.can(kind):
        pytest.skip(
            f"no {kind} from the intrinsics of {machine.build.compiler} or on this processor"
        )
    for program, expected in int_programs(kind):
        assert machine.run(program) == expected


@pytest.mark.parametrize("kind", FLOAT_PRODUCTS)
def test_floats(machine: Machine, kind: str) -> None:
    if not machine.can(kind):
        pytest.skip(
            f"no {kind} from the intrinsics of {machine.build.compiler} or on this processor"
        )
    for program, expected in float_programs(kind):
        got = machine.run(program)
        if machine.is_hardware:  # which NaN it is, the manual leaves open
            result = program.steps[-2].offset
            got, expected = (one_nan(text, result) for text in (got, expected))
        assert got == expected


def one_nan(arena: bytes, result: int) -> bytes:
    """With the same NaN for all in the floats from `result` to the end."""
    values = np.frombuffer(arena[result:], np.float32)
    return arena[:result] + np.where(np.isnan(values), np.float32(np.nan), values).tobytes()


@pytest.mark.parametrize("kind", FLOAT_PRODUCTS)
def test_the_values_are_of_all_sorts(kind: str) -> None:
    """What is tested above: a check that cannot fail would be worth nothing."""
    results = np.concatenate(
        [
            np.frombuffer(arena[p.steps[-2].offset :], np.float32)
            for p, arena in float_programs(kind)
        ]
    )
    zero, infinite, nan = results == 0, np.isinf(results), np.isnan(results)
    for sort in (zero, infinite, nan, ~(zero | infinite | nan)):
        assert np.count_nonzero(sort) > 50
    magnitude = np.abs(results[~zero & ~nan])
    assert magnitude.min() >= np.finfo(np.float32).tiny
    if kind == "tdpbf16ps":
        assert magnitude.min() < 2 * np.finfo(np.float32).tiny


# Pairs of bf16 numbers whose products one chain adds, the accumulator, the result: all as bits of
# float32. 2^-63 is 0x20000000, 2^-75 0x1A000000, 2^-76 0x19800000, 2^-56 0x23800000.
DIRECTED = {
    "half a unit below the least number": ([(0x2000, 0x2000), (0x9A00, 0x1980)], 0, 0x00800000),
    "a quarter": ([(0x2000, 0x2000), (0x9980, 0x1980)], 0, 0x00800000),
    "three quarters": ([(0x2000, 0x2000), (0x9A40, 0x1980)], 0, 0),
    "three quarters, negative": ([(0xA000, 0x2000), (0x1A40, 0x1980)], 0, 0),
    "a whole one": ([(0x2000, 0x2000), (0x9A00, 0x1A00)], 0, 0),
    "the least number": ([(0x2000, 0x2000)], 0, 0x00800000),
    "denormal accumulator": ([(0x2381, 0x2381), (0xA382, 0x2380)], 0x00400000, 0x00800000),
    "denormal result": ([(0x2381, 0x2381), (0xA382, 0x2380)], 0x80800001, 0x80000000),
    "denormal factor": ([(0x007F, 0x7F00)], 0x80000000, 0),
    "negative zeros": ([(0x8000, 0x3F80)], 0x80000000, 0),
    "a tie to even": ([(0x4B80, 0x3F80), (0x3F80, 0x3F80)], 0, 0x4B800000),
    "a tie to even, upwards": ([(0x4B80, 0x3F80), (0x4040, 0x3F80)], 0, 0x4B800002),
    "overflow stays": ([(0x7F00, 0x4000), (0xFF00, 0x4000)], 0, 0x7F800000),
    "no overflow inside an operation": ([(0x7F00, 0x3F80), (0xFF00, 0x4000)], 0, 0xFF000000),
    "infinity times zero": ([(0x7F80, 0x0000)], 0, 0xFFC00000),
    "infinity times denormal": ([(0x7F80, 0x0001)], 0, 0xFFC00000),
    "the first of two NaN": ([(0x7F81, 0xFFC5)], 0, 0x7FC10000),
    "the accumulator's NaN": ([(0x7F81, 0x3F80)], 0xFF800001, 0xFFC00001),
}


@pytest.mark.parametrize("name", DIRECTED)
def test_directed(machine: Machine, name: str) -> None:
    """Values that random ones do not meet."""
    pairs, c, expected = DIRECTED[name]
    if machine.is_hardware and expected & 0x7FC00000 == 0x7FC00000:
        pytest.skip("NaN of the hardware are its own")
    a = np.array([[x, 0] for x, _ in pairs], np.uint16)
    b = np.array([[y, 0] for _, y in pairs], np.uint16)
    program = product("tdpbf16ps", (1, 1, len(pairs)), (0, 1, 2), [np.array([c], np.uint32), a, b])
    arena = machine.run(program)
    assert hex(int.from_bytes(arena[-4:], "little")) == hex(expected)
    assert arena == amx_model.run(program)


@pytest.mark.parametrize("mode", [0x1F80, 0x3F80, 0x5F80, 0x7F80, 0x9FC0, 0x0000], ids=hex)
def test_the_thread_s_rounding_does_not_matter(machine: Machine, mode: int) -> None:
    """MXCSR is neither consulted, not even when it lets exceptions trap, nor changed."""
    if not hasattr(machine.library, "execute_in_mode"):
        pytest.skip("this processor has no MXCSR")
    for program, expected in float_programs("tdpbf16ps")[:60]:
        if machine.is_hardware and b"\xff" in expected:
            continue
        assert machine.run_in_mode(program, mode) == (expected, mode)
