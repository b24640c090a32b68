"""What is known of whole numbers before anything is checked: params, and arithmetic of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from hbc.frontend.text import ast
from hbc.frontend.text.vocabulary import BYTES
from hbc.ir.lang.types import DTYPES

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "<<": lambda a, b: a << min(b, LONGEST_SHIFT) if b >= 0 else 0,
    ">>": lambda a, b: a >> b if b >= 0 else 0,
    "**": lambda a, b: a ** min(b, LONGEST_SHIFT) if b >= 0 else 0,
}
LONGEST_SHIFT = 63


def params(file: ast.File, settings: Mapping[str, str]) -> dict[str, int]:
    """The values of those that have a whole number, as `--set` says. A setting that is wrong is reported
    later, and its param has its default here."""
    values: dict[str, int] = {}
    types = {s.name.text: s.default.text for s in file.statements if isinstance(s, ast.TypeParam)}
    types |= {name: settings[name] for name in types if settings.get(name) in DTYPES}
    for s in file.statements:
        if not isinstance(s, ast.Param):
            continue
        value = whole(s.default, values, types)
        if s.name.text in settings:
            with suppress(ValueError):
                value = int(settings[s.name.text], 0)
        element = DTYPES.get(types.get(s.type.text, s.type.text))
        if value is not None and element is not None and element.is_int:
            values[s.name.text] = value
    return values


def whole(
    e: ast.Expr, known: Mapping[str, int], types: Mapping[str, str] | None = None
) -> int | None:
    """The value of an expression; None where it depends on anything else."""
    match e:
        case ast.Number(value=int(value)):
            return value
        case ast.Name(text=text):
            return known.get(text)
        case ast.Unary(op="-", a=inner):
            a = whole(inner, known, types)
            return None if a is None else -a
        case ast.Binary(op=op) if op in OPERATIONS:
            a, b = whole(e.a, known, types), whole(e.b, known, types)
            return None if a is None or b is None else OPERATIONS[op](a, b)
        case ast.Call(name=name, args=args) if name.text in ("min", "max") and args:
            values = [whole(x, known, types) for x in args]
            given = [v for v in values if v is not None]
            best = min(given, default=0) if name.text == "min" else max(given, default=0)
            return best if len(given) == len(values) else None
        case ast.Call(name=name, args=(ast.Name(text=text),)) if name.text == BYTES:
            element = DTYPES.get((types or {}).get(text, text))
            return None if element is None else element.bytes
        case _:
            return None


def number(value: int, at: ast.Name) -> ast.Expr:
    """The literal in the place of a name. It has no sign of its own."""
    literal = ast.Number(abs(value), at.span)
    return literal if value >= 0 else ast.Unary("-", literal, at.span)
