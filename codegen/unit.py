"""The C file being written: its text so far, the names in scope, the helpers it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from hbc.codegen.names import Scope
from hbc.codegen.prelude import Prelude
from hbc.codegen.writer import Writer
from hbc.ir.target import Target
from hbc.ir.types import DType, Memory

# C's operator precedences, high binds tight.
PRIMARY, UNARY, MUL, ADD, SHIFT, RELATION, EQUALITY = 15, 14, 13, 12, 11, 10, 9
BIT_AND, BIT_XOR, BIT_OR, LOGIC_AND, LOGIC_OR, CONDITIONAL = 8, 7, 6, 5, 4, 3


@dataclass(frozen=True, slots=True)
class Text:
    """A C expression and how tightly its outermost operator binds."""

    text: str
    binds: int = PRIMARY

    def at(self, least: int) -> str:
        """The text, in parentheses when it binds less tightly than `least`."""
        return self.text if self.binds >= least else f"({self.text})"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Buffer:
    """An argument, table or allocation. `pieces` (registers only): the C variable that holds the
    lanes from an element offset on."""

    text: str
    element: DType
    memory: Memory = Memory.HEAP
    pieces: dict[tuple[int, int], str] = field(default_factory=dict)


@dataclass(slots=True)
class Unit:
    """What printing a statement needs to know and leaves behind.

    `codes`: the error code for a message, `memory` being the failed allocation. `read_names`: names
    that the body reads; others are not printed. `live`: heap buffers to free on the way out, one
    list for the function and one for the parallel region inside it. `region`: the label at the end
    of the parallel loop's body, when inside one; `jumps`: how many gotos lead there. `undeclared`:
    register variables whose declaration (their type) is printed with their first assignment."""

    target: Target
    codes: dict[str, str] = field(default_factory=dict)
    read_names: frozenset[str] = frozenset()
    out: Writer = field(default_factory=Writer)
    scope: Scope = field(default_factory=Scope)
    prelude: Prelude = field(default_factory=Prelude)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    live: list[list[str]] = field(default_factory=lambda: [[]])
    region: str | None = None
    jumps: int = 0
    parallel: bool = False
    undeclared: dict[str, str] = field(default_factory=dict)

    @property
    def fused(self) -> bool:
        """Whether a*b+c is contracted to one rounding, as the targets with FMA do."""
        return self.target.vector_bits > 0
