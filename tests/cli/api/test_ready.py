"""Pins that the short way of a call is taken for forms that were checked, gives the same, and checks what
a form does not say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hbc
from hbc.cli.api.calls import Calls

ADD = "size N, M\ninput A: f32[N, M]\ninput B: f32[N, M]\noutput C: f32[N, M]\nC[i, j] = A[i, j] + B[i, j]\n"
Array = np.ndarray[Any, Any]


def numbers(n: int = 5) -> Array:
    return np.arange(4 * n, dtype=np.float32).reshape(n, 4)


@pytest.fixture(scope="module")
def add() -> hbc.Kernel:
    """Called once each way, so that the forms of `numbers(5)` are known."""
    kernel = hbc.compile(ADD, target="c")
    kernel(numbers(), numbers())
    kernel(numbers(), numbers(), out=numbers())
    return kernel


@pytest.fixture
def long_way(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for each call that goes the long way."""
    gone: list[str] = []
    run = Calls._run

    def noted(*arguments: Any) -> Any:
        gone.append("long")
        return run(*arguments)

    monkeypatch.setattr(Calls, "_run", noted)
    return gone


def test_known_forms_go_the_short_way(add: hbc.Kernel, long_way: list[str]) -> None:
    """With the values of this call, in the array of this call."""
    a, b, out = numbers() + 1, numbers() * 3, numbers()
    assert add(a, b, out=out) is out
    np.testing.assert_array_equal(out, a + b)
    made = add(b, b)
    np.testing.assert_array_equal(made, b + b)
    assert made is not add(b, b)
    assert not long_way


@pytest.mark.parametrize(
    "call",
    [
        lambda k: k(numbers(6), numbers(6)),
        lambda k: k(B=numbers(), A=numbers()),
        lambda k: k(numbers(), numbers(), out={"C": numbers()}),
        lambda k: k(np.zeros((5, 8), np.float32)[:, :4], numbers()),
        lambda k: k(memoryview(numbers()), numbers()),
    ],
    ids=["size", "names", "dictionary", "rows apart", "no array of NumPy's"],
)
def test_others_go_the_long_way(
    add: hbc.Kernel, long_way: list[str], call: Callable[[hbc.Kernel], Any]
) -> None:
    call(add)
    assert long_way == ["long"]


def read_only() -> Array:
    array = numbers()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        (lambda: (numbers(), numbers(), read_only()), "`C` is read-only"),
        (lambda: (numbers().astype(np.float64), numbers(), numbers()), "`A` holds float64"),
        (lambda: (numbers(), numbers().astype(">f4"), numbers()), "`B` holds >f4"),
        (lambda: (numbers(), numbers(4), numbers()), "sizes contradict each other"),
        (lambda: (numbers(), numbers()), "needs `B` too"),
        (lambda: (numbers(), (both := numbers()), both), "overlap"),
    ],
    ids=["read-only", "type", "byte order", "shape", "one too few", "overlap"],
)  # fmt: skip
def test_what_is_wrong_is_said_on_either_way(
    add: hbc.Kernel, arrays: Callable[[], tuple[Any, ...]], said: str
) -> None:
    """An array that overlaps has a form that is known."""
    *inputs, out = arrays()
    with pytest.raises(hbc.ArgumentError, match=said):
        add(*inputs, out=out)
