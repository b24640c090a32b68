"""New names beside those that a program has."""

from __future__ import annotations

from collections.abc import Collection


def unused(name: str, taken: Collection[str], between: str = "", first: int = 2) -> str:
    """The name, or the first of `name2`, `name3`, .. that is not taken."""
    candidate, count = name, first
    while candidate in taken:
        candidate = f"{name}{between}{count}"
        count += 1
    return candidate
