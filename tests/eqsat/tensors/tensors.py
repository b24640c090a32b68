"""Random tensor expressions over a few small dimensions, and arrays for them.

Floats are small integers, so that their sums and products are exact in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hbc.eqsat.tensors.tensor import (
    Apply,
    Dim,
    Dims,
    Line,
    Masked,
    Read,
    Reduce,
    Tensor,
    Uniform,
    operand_name,
)
from hbc.ir.lang.build import const
from hbc.ir.lang.nodes import (
    Binary,
    Call,
    Cast,
    MathOp,
    Op,
    Select,
    Unary,
    UnaryOp,
    const_index,
)
from hbc.ir.lang.types import BOOL, DTYPES, DType, Type
from hbc.ir.meaning.numpy_types import numpy_dtype

Array = npt.NDArray[Any]
SIZE = 400
OUTPUTS = (Dim("d0", 2), Dim("d1", 3))
SUMMED = (Dim("r0", 4, True), Dim("r1", 2, True))
SHAPES = 28  # of Draft.shaped
TOTALS = ("i32", "u32", "f32")
NARROWER = {
    "i32": ("i8", "u8", "i16", "u16"), "u32": ("u8", "u16"), "f32": ("bf16", "i8", "u8"),
    "i16": ("i8", "u8"), "u16": ("u8",),
}  # fmt: skip
STEPS = ((1, 1), (2, 2), (2, 1), (1, 2), (4, 2), (2, 4), (3, 2), (2, 3), (4, 6))


def arrays() -> dict[str, DType]:
    """The buffers of the drafts: one of each type, called after it; `wild` has floats of any size."""
    return {**DTYPES, "wild": DTYPES["f32"]}


def data(random: np.random.Generator) -> dict[str, Array]:
    """Elements for them: integers of their whole range."""
    found: dict[str, Array] = {}
    for name, t in arrays().items():
        if name == "wild":
            found[name] = random.choice([-3e9, -7.5, -0.4, 0.0, 0.9, 200.6, 3e9, 5e9], SIZE)
            found[name] = found[name].astype(np.float32)
        elif t.is_float:
            found[name] = random.choice([-2, -1, 1, 2, 3], SIZE).astype(numpy_dtype(t))
        else:
            least, most = t.limits
            values = random.integers(
                least, most, SIZE, np.int64 if least else np.uint64, endpoint=True
            )
            found[name] = values.astype(numpy_dtype(t))
    return found


def cast(t: str, x: Tensor) -> Tensor:
    return Apply(Cast(Type(DTYPES[t]), operand_name(x.element)), (x,))


def binary(op: Op, x: Tensor, y: Tensor) -> Tensor:
    return Apply(Binary(op, operand_name(x.element), operand_name(y.element)), (x, y))


def add(x: Tensor, y: Tensor) -> Tensor:
    return binary(Op.ADD, x, y)


def multiply(x: Tensor, y: Tensor) -> Tensor:
    return binary(Op.MUL, x, y)


def in_order(dims: Iterable[Dim]) -> Dims:
    """The dimensions as they stand in an e-graph."""
    return tuple(sorted(dims, key=(*OUTPUTS, *SUMMED).index))


@dataclass
class Draft:
    """Makes random expressions. `made` are all that are parts of others or stand for themselves;
    `masks` the conditions that were used; `zeros` conditions with values that are 0 where
    they do not hold; `local` arrays that may be read anywhere. With `cosines` there are functions
    that are not 0 at 0, for which `evaluate` has an exact stand-in."""

    random: np.random.Generator
    variant: int | None = None  # of a shape; random where there is none
    cosines: bool = False
    made: list[Tensor] = field(default_factory=list)
    masks: list[Tensor] = field(default_factory=list)
    zeros: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    local: list[Tensor] = field(default_factory=list)

    def pick(self, *words: str) -> str:
        return words[int(self.random.integers(len(words)))]

    def chance(self, p: float) -> bool:
        return bool(self.random.random() < p)

    def number(self, most: int) -> int:
        return int(self.random.integers(most))

    def read(self, buffer: str, dims: Dims | None = None) -> Read:
        """An array that moves along these dims, or some."""
        moving = dims if dims is not None else tuple(
            d for d in (*OUTPUTS, *SUMMED) if self.chance(0.5)
        )  # fmt: skip
        base = const_index(self.number(3))
        strides = tuple((d, const_index(1 + self.number(3))) for d in in_order(moving))
        return Read(buffer, arrays()[buffer], base, strides)

    def keep(self, x: Tensor) -> Tensor:
        self.made.append(x)
        return x

    def condition(self, outputs: bool = False) -> Tensor:
        """A mask that holds at the first point of its dimensions, and nowhere or not everywhere else."""
        if self.masks and self.chance(0.6):
            old = self.masks[self.number(len(self.masks))]
            if not outputs or not _is_summed(old):
                return old
        d = (OUTPUTS if outputs else (*OUTPUTS, *SUMMED))[self.number(2 if outputs else 4)]
        line = Line(const_index(0), ((d, const_index(1)),))
        limit = Uniform(const_index(1 + self.number(d.extent)))
        self.masks.append(binary(Op.LT, line, limit))
        return self.masks[-1]

    def leaf(self, total: str) -> Tensor:
        """A value of the type without sums."""
        return self.keep(self._leaf(total))

    def _leaf(self, t: str) -> Tensor:
        narrow = NARROWER[t][self.number(len(NARROWER[t]))]
        match self.pick(
            "read", "cast", "twice", "product", "same", "narrowed", "masked", "masked", "wild",
            "uniform", "other", "choice", "masked product", "masked twice", "bits",
        ):  # fmt: skip
            case "read":
                return self.read(t)
            case "twice" if narrow in ("i16", "u16"):
                below = NARROWER[narrow]
                return cast(t, cast(narrow, self.read(below[self.number(len(below))])))
            case "narrowed" if t != "f32":
                return cast(t, cast("i16", self.read("i32", (SUMMED[0],))))
            case "same":
                return cast(t, self.leaf(t))
            case "masked":
                x: Tensor = cast(t, self.read(narrow))
                return Masked(self.condition(self.chance(0.7)), x)
            case "masked twice":
                inner = Masked(self.condition(), Masked(self.condition(), self.read(narrow)))
                return cast(t, inner)
            case "masked product":
                return Masked(self.condition(), multiply(self.read(t), cast(t, self.read(narrow))))
            case "wild" if t != "f32":
                return cast(t, self.read("wild"))
            case "other" if t != "f32":
                return cast(t, cast("u32" if t == "i32" else "i32", self.read(narrow)))
            case "bits" if t == "f32":
                return Masked(self.condition(self.chance(0.7)), self.function(self.read(t)))
            case "bits":
                other = {"i32": "f32", "u32": "i32"}[t]
                node = Call(MathOp.REINTERPRET, (operand_name(DTYPES[other]),), Type(DTYPES[t]))
                return Apply(node, (self.read(other),))
            case "uniform":
                return Uniform(const(1 + self.number(2), DTYPES[t]))
            case "choice":
                node = Select(operand_name(BOOL), operand_name(DTYPES[t]), operand_name(DTYPES[t]))
                return Apply(node, (self.read("bool"), self.read(t), cast(t, self.read(narrow))))
            case "product" if t in ("i32", "f32"):
                a, b = (cast("i16", self.read(self.pick("u8", "i8"))) for _ in "ab")
                return cast(t, multiply(a, b))
            case _:
                return cast(t, self.read(narrow))

    def recast(self, x: Tensor) -> Tensor:
        """A narrow value as it is, with the other sign, or of a function."""
        if self.chance(0.5):
            return x
        if x.element.is_float:
            return self.function(x)
        other = (
            x.element.name.replace("u", "i")
            if x.element.name[0] == "u"
            else f"u{x.element.name[1:]}"
        )
        return cast(other, x)

    def of_function(self, r: Dim) -> Tensor:
        """A function under a mask, and one of what is."""
        if self.variant in (None, 0, 2, 4):
            return Masked(self.condition(), self.function(self.read("f32")))
        return self.function(Masked(self.condition(outputs=True), self.read("f32", (r,))))

    def function(self, x: Tensor) -> Tensor:
        """Of a float; mostly one that is 0 at 0."""
        name = MathOp.COS if self.chance(0.6) and self.cosines else MathOp.FLOOR
        return Apply(Call(name, (operand_name(x.element),), Type(x.element)), (x,))

    def unary(self, t: str, x: Tensor) -> Tensor:
        if t == "f32":
            return Apply(Call(MathOp.FLOOR, (operand_name(DTYPES[t]),), Type(DTYPES[t])), (x,))
        return Apply(Unary(UnaryOp.NEG, operand_name(DTYPES[t])), (x,))

    def convolution(
        self, t: str, d: Dim, r: Dim, steps: tuple[tuple[int, int], ...] = STEPS, tail: bool = False,
        end: int | None = None,
    ) -> Tensor:  # fmt: skip
        """A filter along r slid along d, by one of the pairs of strides along them. As a tail the image
        has a mask of r, and mostly the filter, too. `end`: it has such a mask of outputs."""
        s, q = steps[self.number(len(steps))]
        other = OUTPUTS[1 - OUTPUTS.index(d)]
        image_type, filter_type = ("bf16" if t == "f32" else "u8"), "i8"  # of different buffers
        moves = {d: s, r: q} | ({other: 30} if self.chance(0.5) else {})
        strides = tuple((x, const_index(moves[x])) for x in in_order(moves))
        image: Tensor = Read(image_type, arrays()[image_type], const_index(1), strides)
        k: Tensor = self.read(filter_type, (r, other) if self.chance(0.5) else (r,))
        if tail:
            kind = self.number(3) if self.variant is None else self.variant % 3
            if end is not None:  # dead masks come with variants that are not multiples of 3
                kind = int(self.variant == 4)
            c = self.limit(r, -1 if kind == 2 else 1 + self.number(2))
            image = Masked(c, image)
            k = k if kind == 1 else Masked(c, k)
        elif self.chance(0.2):
            k = Masked(self.condition(), k)
        if end is not None:
            image = Masked(self.end(d, end), image)
        a, b = cast(t, image), cast(t, k)
        return Reduce(Op.ADD, (r,), multiply(a, b) if self.chance(0.5) else multiply(b, a))

    def end(self, d: Dim, kind: int) -> Tensor:
        """A condition on outputs that holds at the first point: on d; on both, so that it may hold nowhere
        along d; on the other."""
        other = OUTPUTS[1 - OUTPUTS.index(d)]
        step = 1 + self.number(2)
        moves = ({d: step}, {d: step, other: step * d.extent}, {other: step})[kind]
        first = self.number(3)
        strides = tuple((x, const_index(moves[x])) for x in in_order(moves))
        most = sum(moves[x] * (x.extent - 1) for x in moves)
        last = most - 1 if self.variant == 4 else self.number(most)
        limit = Uniform(const_index(first + 1 + last))
        self.masks.append(binary(Op.LT, Line(const_index(first), strides), limit))
        return self.masks[-1]

    def limit(self, r: Dim, step: int) -> Tensor:
        """A condition on r that holds at 0, and with a step up not at the end; in one variant wherever it
        can."""
        first, last = self.number(2), self.number(r.extent - 1)
        if self.variant == 3:
            last = r.extent - 2
        line = Line(const_index(first), ((r, const_index(step)),))
        return binary(Op.LT, line, Uniform(const_index(first + 1 + last)))

    def term(self, t: str, depth: int = 2) -> Tensor:
        """A value of the type, with sums and products."""
        return self.shaped(t, self.number(SHAPES), depth - 1) if depth else self.leaf(t)

    def shaped(self, t: str, shape: int, depth: int = 0) -> Tensor:
        """A value of the type and of one of the shapes that rules are about."""
        return self.keep(self._shaped(t, shape, depth))

    def _shaped(self, t: str, shape: int, depth: int) -> Tensor:
        def x() -> Tensor:
            return self.term(t, depth)

        other = {"i32": "u32", "u32": "i32", "f32": "bf16"}[t]
        d, r = OUTPUTS[self.number(2)], SUMMED[self.number(2)]
        match shape:
            case 0:
                return add(add(self.leaf(t), self.sum_of(self.leaf(t))), x())
            case 1:
                return add(x(), add(self.sum_of(self.leaf(t)), self.leaf(t)))
            case 2:
                return binary(Op.SUB, x(), self.leaf(t))
            case 3:
                return self.sum_of(add(x(), self.leaf(t)))
            case 4:
                return self.sum_of(self.sum_of(x()))
            case 5:
                return self.sum_of(multiply(x(), self.leaf(t)))
            case 6:
                return multiply(self.leaf(t), self.sum_of(x()))
            case 7:  # floats of any size as integers
                wild = self.read("wild" if t != "f32" else "i8")
                return self.sum_of(multiply(cast(t, wild), cast(t, self.read("u8"))))
            case 8:
                narrow = self.read("u8")
                return add(x(), cast(t, add(cast(other, narrow), self.read(other))))
            case 9:
                return Masked(self.condition(), cast(t, self.read(NARROWER[t][0])))
            case 10:
                return self.unary(t, Masked(self.condition(), x()))
            case 11:
                inner = add(x(), Masked(self.condition(), add(self.leaf(t), self.leaf(t))))
                return Masked(self.condition(), self.unary(t, inner if self.chance(0.5) else x()))
            case 12:
                return self.convolution(t, d, r)
            case 13:
                pairs = tuple((s, q) for s, q in STEPS if s == 2)
                return add(self.convolution(t, d, r, pairs), self.convolution(t, d, r, pairs))
            case 14:
                masked = Masked(self.condition(outputs=True), self.read(t, (r,)))
                return self.sum_of(multiply(masked, x()))
            case 15:
                masked = Masked(self.condition(outputs=True), self.read(NARROWER[t][1], (r,)))
                return self.sum_of(multiply(cast(t, self.recast(masked)), x()))
            case 16:
                joined = add if self.variant in (1, 3) else multiply
                return Masked(self.condition(), joined(x(), self.leaf(t)))
            case 17:
                return Masked(self.condition(), Masked(self.condition(), x()))
            case 20:
                c = self.condition()
                self.zeros.append((c, multiply(Masked(c, self.leaf(t)), x())))
                return Masked(*self.zeros[-1])
            case 21:
                self.local.append(self.read(t))
                return multiply(Masked(self.condition(outputs=True), self.local[-1]), x())
            case 22:
                if self.variant in (0, 3):
                    return self.convolution(t, d, SUMMED[0], ((1, 2), (2, 3)), tail=True)
                return self.convolution(t, d, r, ((1, 1), (2, 1), (2, 2)), tail=True)
            case 23 | 24 | 25:
                return self.convolution(t, d, r, STEPS[:5], end=shape - 23)
            case 26:
                return self.convolution(t, OUTPUTS[1], r, ((1, 1),), True, end=self.number(2))
            case 27:
                f = self.of_function(SUMMED[self.number(2)])
                return self.sum_of(multiply(f if t == "f32" else cast(t, f), x()))
            case 18 if t != "u32":
                # Products that the narrower type holds, and such that it does not.
                wide = self.pick("i16", "u16") if t != "f32" else "i16"
                kinds = [self.pick("u8", "u8", "i8" if wide == "i16" else wide) for _ in "ab"]
                if self.variant == 0:
                    wide, kinds = "i16", ["u8", "u8"]
                a, b = (cast(wide, self.read(kind)) for kind in kinds)
                return self.sum_of(cast(t, multiply(a, b)))
            case _:
                return self.sum_of(multiply(self.leaf(t), self.leaf(t)))

    def sum_of(self, x: Tensor) -> Tensor:
        """The sum over a dimension, or over two; it may be one that another sum inside has, too: then
        that one is renamed by no one, and it is not taken."""
        free = [d for d in SUMMED if d not in _bound(x)]
        if not free:
            return x
        dims = tuple(free) if self.chance(0.3) else (free[self.number(len(free))],)
        op = Op.MAX if self.chance(0.5 if self.variant == 3 else 0.1) else Op.ADD
        return Reduce(op, dims, x)


def _bound(x: Tensor) -> set[Dim]:
    match x:
        case Reduce(dims=dims, value=value):
            return {*dims} | _bound(value)
        case Apply(args=args):
            return set().union(*(_bound(a) for a in args))
        case Masked(condition=c, value=value):
            return _bound(c) | _bound(value)
        case _:
            return set()


def _is_summed(x: Tensor) -> bool:
    match x:
        case Line(strides=strides) | Read(strides=strides):
            return any(d.reduced for d, _ in strides)
        case Apply(args=args):
            return any(_is_summed(a) for a in args)
        case _:
            return False
