"""Formulas of sketches as a checker reads them: descriptions of instructions, and gathers of one array.

It has its own small reader, so that what a proof says is compared with the text and with nothing made from
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hbc.cli.proofs.statement import Refused, need

TOKEN = re.compile(
    r'\s+|#[^\n]*|("[^"\n]*"|->|\.\.|==|!=|<=|>=|<<|>>|\d+|[A-Za-z_]\w*|[^\w\s])', re.ASCII
)
LEVELS = (
    {"or"},
    {"and"},
    {"==", "!=", "<", "<=", ">", ">="},
    {"^"},
    {"&"},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "%"},
)
NOT = 2  # binds less than the levels from here on
ZERO, UNDEFINED, OUTSIDE = -1, -2, -3
DEEPEST, LONGEST = 60, 9


def _divided(left: Any, right: Any) -> Any:
    return np.floor_divide(left, np.where(np.equal(right, 0), 1, right))


DO: dict[str, Callable[..., Any]] = {
    "or": np.logical_or, "and": np.logical_and, "==": np.equal, "!=": np.not_equal, "<": np.less,
    "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "^": np.bitwise_xor,
    "&": np.bitwise_and, "<<": np.left_shift, ">>": np.right_shift, "+": np.add, "-": np.subtract,
    "*": np.multiply, "/": _divided, "%": lambda a, b: np.mod(a, np.where(np.equal(b, 0), 1, b)),
    "gcd": np.gcd, "min": np.minimum, "max": np.maximum, "abs": np.abs,
    "neg": np.negative, "not": np.logical_not,
}  # fmt: skip


class Reader:
    """The tokens of a text, and expressions of them as nested tuples."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = [*filter(None, TOKEN.findall(text)), ""]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at]

    def take(self, wanted: str = "") -> str:
        token = self.tokens[self.at]
        need(token and wanted in ("", token), f"`{token[:20]}` stands where `{wanted}` should")
        self.at += 1
        return token

    def took(self, wanted: str) -> bool:
        here = self.peek() == wanted
        self.at += here
        return here

    def number(self) -> int:
        token = self.take()
        need(token.isdigit() and len(token) <= LONGEST, f"`{token[:20]}` is no number")
        return int(token)

    def expr(self, depth: int = 0) -> Any:
        need(depth < DEEPEST, "a formula is nested too deep")
        if self.took("if"):
            condition = self.expr(depth + 1)
            self.take("then")
            then = self.expr(depth + 1)
            self.take("else")
            return "if", condition, then, self.expr(depth + 1)
        return self.chain(0, depth + 1)

    def chain(self, level: int, depth: int) -> Any:
        if level == NOT and self.took("not"):
            need(depth < DEEPEST, "a formula is nested too deep")
            return "not", self.chain(level, depth + 1)
        if level == len(LEVELS):
            need(depth < DEEPEST, "a formula is nested too deep")
            return ("neg", self.chain(level, depth + 1)) if self.took("-") else self.atom(depth)
        left = self.chain(level + 1, depth)
        while self.peek() in LEVELS[level]:
            left = self.take(), left, self.chain(level + 1, depth)
        return left

    def atom(self, depth: int) -> Any:
        if self.took("("):
            inside = self.expr(depth + 1)
            self.take(")")
            return inside
        if self.peek().isdigit():
            number = self.number()
            named = self.peek().isidentifier() and self.peek() not in WORDS
            return ("*", number, self.take()) if named else number
        name = self.take()
        need(name.isidentifier() and name not in WORDS, f"`{name[:20]}` is no name")
        for begin, end in (("[", "]"), ("(", ")")):
            if self.took(begin):
                inside = [self.expr(depth + 1)]
                while self.took(","):
                    inside.append(self.expr(depth + 1))
                self.take(end)
                return ("read", name, inside) if begin == "[" else (name, *inside)
        return name


WORDS = {
    "if",
    "then",
    "else",
    "and",
    "or",
    "not",
    "for",
    "where",
    "as",
    "in",
    "each",
    "set",
    "cost",
    "param",
    "import",
    "gather",
}


def value(tree: Any, names: Mapping[str, Any]) -> Any:
    """The integer of a formula, or the array of them."""
    match tree:
        case int():
            return tree
        case str():
            need(tree in names, f"there is no `{tree[:20]}`")
            return names[tree]
        case ("if", condition, then, other):
            return np.where(value(condition, names), value(then, names), value(other, names))
        case (str(name), *parts) if name in DO:
            found = DO[name](*(value(p, names) for p in parts))
            return found.astype(np.int64) if found.dtype == np.bool_ else found
    raise Refused("a formula has no meaning")


def located(
    tree: Any, names: Mapping[str, Any], arrays: Mapping[str, tuple[int, tuple[int, ...]]]
) -> Any:
    """The location that a formula reads; `arrays` says where each begins, and its extents."""
    match tree:
        case 0:
            return ZERO
        case "_":
            return UNDEFINED
        case ("if", condition, then, other):
            return np.where(
                value(condition, names), located(then, names, arrays), located(other, names, arrays)
            )
        case ("read", name, indices) if name in arrays and len(indices) == len(arrays[name][1]):
            place, inside = 0, True
            for index, extent in zip(indices, arrays[name][1], strict=True):
                at = value(index, names)
                inside = inside & (at >= 0) & (at < extent)
                place = place * extent + at
            return np.where(inside, place + arrays[name][0], OUTSIDE)
    raise Refused("a formula reads no array")


@dataclass(frozen=True)
class Binder:
    """A variable that ranges, over the `listed` values or from `first` to before `end`; each `per`
    elements choose
    it together (None: all)."""

    name: str
    listed: tuple[Any, ...]
    first: Any
    end: Any
    per: Any

    def values(self, names: Mapping[str, Any]) -> list[int]:
        if self.listed:
            return [int(value(v, names)) for v in self.listed]
        return list(range(int(value(self.first, names)), int(value(self.end, names))))


@dataclass(frozen=True)
class Described:
    """One instruction of a description: its formula over the registers `arrays`, what ranges, and its
    cost."""

    variable: str
    arrays: tuple[str, ...]
    body: Any
    binders: tuple[Binder, ...]
    where: Any
    cost: int


def described(text: str) -> Iterator[tuple[str, Any]]:
    """The files that a description imports, its parameters, and its instructions by their names and
    numbers."""
    r = Reader(text)
    while r.peek():
        word = r.take()
        if word == "import":
            yield "import", r.take().strip('"')
        elif word == "param":
            name = r.take()
            r.take("=")
            yield "param", (name, r.expr())
            if r.took("in"):
                while r.take() != "}":
                    pass
        else:
            need(word == "set", f"`{word[:20]}` begins nothing")
            name = r.take()
            arrays = tuple(_parameters(r))
            for token in ("->", "[", "n", "]", "="):
                r.take(token)
            part = 0
            while part == 0 or r.took("|"):
                yield "instruction", (f"{name} {part}", _instruction(r, arrays))
                part += 1


def _parameters(r: Reader) -> Iterator[str]:
    r.take("(")
    while not r.took(")"):
        yield r.take()
        for token in (":", "[", "n", "]"):
            r.take(token)
        r.took(",")


def _instruction(r: Reader, arrays: tuple[str, ...]) -> Described:
    r.take("\\")
    variable = r.take()
    r.take(".")
    body = r.expr()
    binders = []
    if r.took("for"):
        binders.append(_binder(r))
        while r.took(","):
            binders.append(_binder(r))
    where = r.expr() if r.took("where") else 1
    r.take("as")
    r.take()
    return Described(
        variable, arrays, body, tuple(binders), where, r.number() if r.took("cost") else 1
    )


def _binder(r: Reader) -> Binder:
    per: Any = None
    if r.took("each"):
        per = 1
        if r.took("("):
            per = r.expr()
            r.take(")")
    name = r.take()
    r.take("in")
    if r.took("{"):
        listed = [r.expr()]
        while r.took(","):
            listed.append(r.expr())
        r.take("}")
        return Binder(name, tuple(listed), 0, 0, per)
    first: Any = r.expr()
    return (
        Binder(name, (), first, r.expr(), per) if r.took("..") else Binder(name, (), 0, first, per)
    )
