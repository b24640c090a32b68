"""A generated program while it grows: what may be read, what of it is needed, names in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from choices import Choices
from spans import Affine, Span

from hbc.ir.lang.types import DType

Reads = dict[str, list[tuple[str, ...] | None]]
"""For each array read, the variables in its indices, one a dimension; None where there is none."""


@dataclass(slots=True)
class Array:
    """An input, table or Func. `needed` is None until something reads it; a table has `shape`."""

    name: str
    element: DType
    rank: int
    kind: str  # input, table, func
    needed: tuple[Span, ...] | None = None
    shape: tuple[int, ...] = ()
    helper: str = ""  # clamp_edge and so on: any index will do
    bound: Span | None = None  # the values of an index array

    def need(self, box: Sequence[Span]) -> None:
        old = self.needed
        self.needed = tuple(box) if old is None else tuple(
            a.hull(b) for a, b in zip(old, box, strict=True)
        )  # fmt: skip


@dataclass(slots=True)
class UpdateDraft:
    """One update: its text, its loops, and what may be done with it."""

    text: str
    pure: tuple[str, ...]
    reduce: tuple[str, ...]
    extents: Mapping[str, Affine]  # of the reduction variables
    associative: bool
    scan: bool  # along the first of them, of which each step may read all of the one before
    reads: Reads
    product: bool = False


@dataclass(slots=True)
class FuncDraft:
    """One Func as written, with its region (own updates included)."""

    name: str
    element: DType
    variables: tuple[str, ...]
    pure: str
    reads: Reads
    updates: list[UpdateDraft]
    region: tuple[Span, ...]
    output: bool
    other: Array | None = None  # that is defined together with it
    other_output: bool = False


@dataclass(slots=True)
class Draft:
    """The whole program. `funcs` are in the order of generation: consumers first."""

    c: Choices
    sizes: tuple[str, ...]
    palette: tuple[DType, ...]
    arrays: dict[str, Array] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    funcs: list[FuncDraft] = field(default_factory=list)
    reductions: list[str] = field(default_factory=list)
    declarations: list[str] = field(default_factory=list)
    params: dict[str, DType] = field(default_factory=dict)
    count: int = 0  # of the integer `Q`, at most; 0 when there is none
    given: bool = False  # to each call, and no param
    least: dict[str, int] = field(default_factory=dict)  # what `require` says of sizes
    functions: list[tuple[str, DType, int]] = field(default_factory=list)
    """Those of values: the name, the type of parameters and value, how many parameters."""
    apart: set[str] = field(default_factory=set)
    """What reductions in expressions read: Funcs of their own, which no schedule places."""
    names: int = 0
    products: bool = False  # sums of products come up
    together: dict[str, Array] = field(
        default_factory=dict
    )  # what is defined with a Func, by its name

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"


@dataclass(slots=True)
class Env:
    """Where an expression stands: the variables it may use, the arrays it may read."""

    draft: Draft
    variables: Mapping[str, Span]
    readable: Sequence[Array]
    reads: Reads
    locals: list[tuple[str, DType]] = field(default_factory=list)
    named: list[tuple[str, Span]] = field(default_factory=list)  # by `let`s, to be indices

    @property
    def c(self) -> Choices:
        return self.draft.c
