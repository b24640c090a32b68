"""As much of torch as the examples of docs/python.md use, over memory of this process that says it lies on
the first GPU. Written from torch's manual: custom operators give no input back, a graph does on replay
what was queued in its stream while it was captured."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

Launch = tuple[Callable[..., Any], tuple[Any, ...]]
DEFAULT_STREAM, CAPTURING_STREAM = 0, 64


class Tensor:
    layout, requires_grad, is_leaf = "torch.strided", False, True

    def __init__(self, array: Any) -> None:
        self.kept, self.shape = array, array.shape
        self.dtype, self.device = f"torch.{array.dtype}", "cuda:0"

    def data_ptr(self) -> int:
        return int(self.kept.ctypes.data)

    def stride(self) -> tuple[int, ...]:
        return tuple(s // self.kept.itemsize for s in self.kept.strides)

    def __mul__(self, factor: float) -> Tensor:
        return Tensor(self.kept * np.float32(factor))

    def __sub__(self, amount: float) -> Tensor:
        return Tensor(self.kept - np.float32(amount))

    def copy_(self, other: Tensor) -> None:
        self.kept[...] = other.kept


class CustomOp:
    """What `custom_op` makes: its arguments are those that a schema can have."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        space, _, own = name.partition("::")
        assert space.isidentifier() and own.isidentifier()
        hints = inspect.get_annotations(function)
        assert set(hints.values()) <= {Tensor, float, int, bool}, hints
        self.function = function
        self.fake: Callable[..., Any] | None = None

    def register_fake(self, fake: Callable[..., Any]) -> Callable[..., Any]:
        self.fake = fake
        return fake

    def __call__(self, *given: Any) -> Any:
        found = self.function(*given)
        assert all(found is not one for one in given), "an output that is an input"
        assert self.fake is not None
        like = self.fake(*given)
        assert (like.shape, like.dtype) == (found.shape, found.dtype)
        return found


class Graph:
    def __init__(self) -> None:
        self.launches: list[Launch] = []

    def replay(self) -> None:
        assert self.launches
        for entry, given in self.launches:
            assert entry(*given) == 0


def make_torch(capturing: list[list[Launch]]) -> ModuleType:
    """The module. While a graph is captured, `capturing` holds the list that launches go into."""
    source = np.random.default_rng(8)

    @contextmanager
    def graph(one: Graph) -> Iterator[None]:
        capturing.append(one.launches)
        yield
        capturing.pop()

    def stream(device: Any = None) -> SimpleNamespace:
        return SimpleNamespace(cuda_stream=CAPTURING_STREAM if capturing else DEFAULT_STREAM)

    def custom_op(name: str, *, mutates_args: Any) -> Callable[..., CustomOp]:
        assert mutates_args == ()
        return lambda function: CustomOp(name, function)

    torch = ModuleType("torch")
    vars(torch).update(
        Tensor=Tensor,
        strided=Tensor.layout,
        rand=lambda n, device: Tensor(source.random(n, np.float32)),
        empty_like=lambda t: Tensor(np.full_like(t.kept, np.nan)),
        relu=lambda t: Tensor(np.maximum(t.kept, 0)),
        equal=lambda a, b: np.array_equal(a.kept, b.kept),
        library=SimpleNamespace(custom_op=custom_op),
        cuda=SimpleNamespace(current_stream=stream, CUDAGraph=Graph, graph=graph),
    )
    return torch
