"""Pins where sizes come from, and what is said when two places contradict each other."""

from collections.abc import Callable

import pytest

from hbc.cli.files.sizes import Shape, given_sizes, infer_sizes
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import HbcError, UsageError

Make = Callable[..., Pipeline]

CONV = """
size   H, W, T
input  I: f32[H, W + T - 1]
input  K: f32[T]
output O: f32[H, W]
require T <= 64, "too many taps"
reduce r in T
O[y, x]  = 0
O[y, x] += K[r] * I[y, x + r]
"""


def shapes(p: Pipeline, **given: tuple[int, ...]) -> tuple[Shape, ...]:
    return tuple(
        Shape(image, given[image.name], f"`{image.name}` from {image.name}.npy")
        for image in p.inputs
        if image.name in given
    )


@pytest.mark.parametrize(
    ("set_", "arrays", "example", "expected"),
    [
        ({}, {"I": (10, 20), "K": (5,)}, {}, (10, 16, 5)),
        ({"T": "5"}, {"I": (10, 20)}, {}, (10, 16, 5)),
        ({"W": "16"}, {"I": (10, 20)}, {}, (10, 16, 5)),
        ({}, {"I": (10, 20)}, {"H": 3, "W": 9, "T": 4}, (10, 9, 12)),
        ({}, {"K": (5,)}, {"H": 3, "W": 9, "T": 4}, (3, 9, 5)),
        ({"W": "0x20"}, {}, {"H": 3, "W": 9, "T": 4}, (3, 32, 4)),
        ({}, {"I": (0, 4), "K": (5,)}, {}, (0, 0, 5)),
    ],
)
def test_sizes_are_inferred(
    pipeline: Make,
    set_: dict[str, str],
    arrays: dict[str, tuple[int, ...]],
    example: dict[str, int],
    expected: tuple[int, ...],
) -> None:
    p = pipeline(CONV)
    found = infer_sizes(p, given_sizes(p, set_), shapes(p, **arrays), example)
    assert found == dict(zip("HWT", expected, strict=True))


def test_contradictions_name_both_places(pipeline: Make) -> None:
    p = pipeline(CONV)
    given = given_sizes(p, {"W": "17"})
    with pytest.raises(HbcError) as caught:
        infer_sizes(p, given, shapes(p, I=(10, 20), K=(5,)), {})
    said = str(caught.value)
    assert "`I` from I.npy is 20 long in dimension 1, but must be 21" in said
    assert "because `K` from K.npy is 5 long in dimension 0; --set W=17" in said
    assert "test.hb:3:" in said


@pytest.mark.parametrize(
    ("text", "arrays", "said"),
    [
        (CONV, {}, "nothing says how large `H` is"),
        (CONV, {"I": (10,)}, "`I` has 2 dimensions, but `I` from I.npy has 1"),
        (CONV, {"I": (10, 20), "K": (65,)}, r"`W` is -44: a size is at least 0"),
        (CONV, {"I": (10, 80), "K": (65,)}, r"too many taps \(at H = 10, W = 16, T = 65\)"),
        (
            "size N\ninput I: f32[2 * N]\noutput O: f32[N]\nO[i] = I[2 * i]",
            {"I": (5,)},
            "no whole `N` fits: `I` from I.npy is 5 long in dimension 0",
        ),
        (
            "size N\ninput I: f32[N, 3]\noutput O: f32[N]\nO[i] = I[i, 2]",
            {"I": (5, 4)},
            "is 4 long in dimension 1, but must be 3",
        ),
    ],
)
def test_what_cannot_be(
    pipeline: Make, text: str, arrays: dict[str, tuple[int, ...]], said: str
) -> None:
    p = pipeline(text)
    with pytest.raises(HbcError, match=said):
        infer_sizes(p, {}, shapes(p, **arrays), {})


@pytest.mark.parametrize("value", ["-1", "x", "1.5", ""])
def test_sizes_are_whole_and_not_negative(pipeline: Make, value: str) -> None:
    with pytest.raises(UsageError, match="a size is"):
        given_sizes(pipeline(CONV), {"W": value})
