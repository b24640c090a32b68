"""New names beside those that a program has."""

from __future__ import annotations

from collections.abc import Collection


def unused(name: str, taken: Collection[str], between: str = "") -> str:
    """The name, or the first of `name2`, `name3`, .. that is not taken."""
    candidate, count = name, 1
    while candidate in taken:
        count += 1
        candidate = f"{name}{between}{count}"
    return candidate
