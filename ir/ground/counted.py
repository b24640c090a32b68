"""Numbers and lists of things in messages: one of them is no plural."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 load`, `4,096 loads`; a plural that takes more than an `s` is given: `1 index`, `2 indices`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last
