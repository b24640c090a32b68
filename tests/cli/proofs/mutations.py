"""Random changes of the lines of a proof."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the values of a proof stand."""
    if isinstance(value, dict):
        return [p for key, part in value.items() for p in leaves(part, (*path, key))]
    if isinstance(value, list):
        return [path, *(p for n, part in enumerate(value) for p in leaves(part, (*path, n)))]
    return [path]


def mutated(lines: list[Any], data: st.DataObject) -> None:
    """One value becomes another: near the old one, or of another kind."""
    places = [p for p in leaves(lines) if p]
    *way, last = data.draw(st.sampled_from(places))
    inside: Any = lines
    for step in way:
        inside = inside[step]
    old = inside[last]
    near: list[Any] = [None, "", [], -1, 0, 1, 1 << 40, True, {}]
    if isinstance(old, int):
        near += [old + 1, old - 1, old + 2] * 6
    if isinstance(old, list) and old:
        near += [old[1:], old[:-1], [*old, old[0]], old[::-1]] * 6
    inside[last] = data.draw(st.sampled_from(near))
