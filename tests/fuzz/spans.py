"""Index ranges of the generated programs: constant least values, greatest values affine in sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Affine = Mapping[str, int]
"""Coefficients of sizes; the constant under "". All coefficients of sizes are >= 0."""


@dataclass(frozen=True, slots=True)
class Span:
    """The values low .. high of a variable or index."""

    low: int
    high: Affine

    def shifted(self, by: int) -> Span:
        return Span(self.low + by, plus(self.high, {"": by}))

    def scaled(self, by: int) -> Span:
        """Multiplied by a positive number."""
        return Span(self.low * by, {n: k * by for n, k in self.high.items()})

    def halved(self, by: int) -> Span:
        """Divided by a positive number, rounded down (the coefficients up: safe, not tight)."""
        high = {n: -(-k // by) if n else max(k // by + 1, 0) for n, k in self.high.items()}
        return Span(self.low // by, high)

    def added(self, other: Span) -> Span:
        return Span(self.low + other.low, plus(self.high, other.high))

    def hull(self, other: Span) -> Span:
        names = sorted({*self.high, *other.high})
        if trimmed(self.high) == trimmed(other.high):
            return Span(min(self.low, other.low), self.high)
        high = {n: max(self.high.get(n, 0), other.high.get(n, 0)) for n in names if n}
        least = [h.get("", 0) for h in (self.high, other.high)]
        return Span(min(self.low, other.low), {**high, "": max(least)})

    def extent(self) -> Affine:
        """How many values there are."""
        return plus(self.high, {"": 1 - self.low})

    def count(self, sizes: Mapping[str, int]) -> int:
        return value(self.extent(), sizes)


def constant(low: int, high: int) -> Span:
    return Span(low, {"": high})


def below(extent: Affine) -> Span:
    """0 .. extent - 1."""
    return Span(0, plus(extent, {"": -1}))


def plus(a: Affine, b: Affine) -> Affine:
    return {n: a.get(n, 0) + b.get(n, 0) for n in sorted({*a, *b})}


def trimmed(a: Affine) -> dict[str, int]:
    return {n: k for n, k in a.items() if k}


def value(a: Affine, sizes: Mapping[str, int]) -> int:
    return sum(k * (sizes[n] if n else 1) for n, k in a.items())


def only_size(a: Affine) -> str | None:
    """The size that this is, if it is just that."""
    names = trimmed(a)
    return (
        next(iter(names))
        if len(names) == 1 and set(names.values()) == {1} and "" not in names
        else None
    )


def only_constant(a: Affine) -> int | None:
    names = trimmed(a)
    return names.get("", 0) if not names.keys() - {""} else None


def text(a: Affine) -> str:
    """As an expression of the language, such as `2 * W + H - 1`."""
    out = ""
    for name, k in sorted(a.items(), key=lambda item: item[0] == ""):
        if not k:
            continue
        part = str(abs(k)) if not name else name if abs(k) == 1 else f"{abs(k)} * {name}"
        sign = "-" if k < 0 else "+"
        out = f"{out} {sign} {part}" if out else part if k > 0 else f"-{part}"
    return out or "0"
