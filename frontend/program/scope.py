"""The names of a file while it is checked, and the mistakes found so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from hbc.frontend.program.cells import Cells
from hbc.frontend.program.foreign_types import called_here
from hbc.frontend.program.funcs import Bound, Image, ReduceVar, Requirement, SizeDecl
from hbc.frontend.text import ast
from hbc.ir.ground.diag import (
    MOST_MISTAKES,
    Diagnostic,
    HbcError,
    Note,
    did_you_mean,
    in_order,
    left,
)
from hbc.ir.ground.record import mutable, record
from hbc.ir.ground.source import Source, Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DTYPES, DType

PYTHON = {"True": "true", "False": "false"}  # as they are written here


@record
class Declared:
    """What a name stands for, in words, and where that was said."""

    what: str
    span: Span


@record
class Signature:
    """What a reader of a Func must know. `element` is UNKNOWN while it is being worked out. `of`: the name
    of the Func of several values that this is a later part of."""

    element: DType
    rank: int
    of: str = ""


@record
class Edge:
    """An alias `P = clamp_edge(A)`: the helper and the input."""

    helper: ast.Ident
    image: ast.Ident


@mutable
class Scope:
    """Everything declared; filled statement by statement, read by the checks that follow."""

    source: Source
    mistakes: dict[Diagnostic, None] = field(default_factory=dict)  # as a set in order
    declared: dict[str, Declared] = field(default_factory=dict)
    sizes: dict[str, SizeDecl] = field(default_factory=dict)
    params: dict[str, ir.Const] = field(default_factory=dict)
    types: dict[str, DType] = field(default_factory=lambda: dict(DTYPES))
    inputs: dict[str, Image] = field(default_factory=dict)
    outputs: dict[str, Image] = field(default_factory=dict)
    reduces: dict[str, ReduceVar] = field(default_factory=dict)
    dependent: dict[str, ast.Interval] = field(
        default_factory=dict
    )  # of reduces, read where they run
    variables: set[str] = field(default_factory=set)  # of first definitions
    aliases: dict[str, Edge] = field(default_factory=dict)
    funcs: dict[str, Signature] = field(default_factory=dict)
    bounds: dict[str, Bound] = field(default_factory=dict)
    tables: dict[str, Cells] = field(default_factory=dict)
    requirements: list[Requirement] = field(default_factory=list)
    quiet: bool = False  # while something is only tried: nothing is recorded
    broken: set[str] = field(default_factory=set)  # names whose declaration was reported
    used: set[str] = field(default_factory=set)  # sizes, params and types that were read
    words: set[str] = field(default_factory=set)  # every identifier, for fresh names

    def report(
        self, message: str, span: Span | None, hint: str | None = None, *notes: Note
    ) -> None:
        """Records one mistake; the same one at the same place only once. HbcError when there are too
        many to go on."""
        if self.quiet:
            return
        self.mistakes.setdefault(Diagnostic(message, span, hint, notes), None)
        if len(self.mistakes) == MOST_MISTAKES:
            raise HbcError([*in_order(self.mistakes), left(MOST_MISTAKES, self.source)])

    def unknown(self, what: str, name: str, span: Span, known: Iterable[str]) -> None:
        """`what` is the kind of thing that was looked for, such as `size`."""
        if name in self.broken:
            return
        known = tuple(known)
        names = sorted(set(known))
        foreign = f"write `{PYTHON[name]}`" if name in PYTHON else None
        if what == "type":
            foreign = called_here(name)
        hint = foreign or did_you_mean(name, names)
        declared = self.declared.get(name)
        if declared is not None:
            note = Note(f"`{name}` is {declared.what}", declared.span)
            article = "an" if what[0] in "aeiou" else "a"
            if hint is None and "Func" in what and declared.what in ("a size", "a param"):
                hint = f"write `{name}`, without indices"
            self.report(f"`{name}` is {declared.what}, not {article} {what}", span, hint, note)
            return
        if hint is None and what == "type":
            hint = f"the types are {', '.join(f'`{n}`' for n in known)}"
        elif hint is None and 0 < len(names) <= 8:
            hint = "known here: " + ", ".join(f"`{n}`" for n in names)
        self.report(f"unknown {what} `{name}`", span, hint)

    def fresh(self, name: str) -> str:
        """A name like `name` that occurs nowhere in the file."""
        number = 1
        while f"{name}_{number}" in self.words:
            number += 1
        self.words.add(f"{name}_{number}")
        return f"{name}_{number}"


@record
class Env:
    """What an expression may refer to: the file's names and, by name, the variables around it.
    `place` says in words where the expression stands. `absent` are the pure variables of a Func
    that the left side of an update leaves out. `indexing`: an index is read, in which a scalar that serves
    as a size counts as one, whatever its type."""

    scope: Scope
    locals: Mapping[str, ir.Expr] = field(default_factory=dict)
    place: str = "here"
    absent: frozenset[str] = frozenset()
    indexing: bool = False

    def bind(self, name: str, value: ir.Expr) -> Env:
        return replace(self, locals={**self.locals, name: value})
