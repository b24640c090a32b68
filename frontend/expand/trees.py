"""Changes syntax trees from below, by the fields of their nodes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from hbc.frontend.text import ast
from hbc.ir.ground.source import Span

Node = TypeVar("Node")


def mapped(node: Node, change: Any) -> Node:
    """The node with its children changed; the same object where none was."""
    if not is_dataclass(node) or isinstance(node, type | Span):
        return node
    found: dict[str, Any] = {}
    for f in fields(node):
        before = getattr(node, f.name)
        after = _changed(before, change)
        if after is not before:
            found[f.name] = after
    return replace(node, **found) if found else node


def _changed(value: Any, change: Any) -> Any:
    if isinstance(value, tuple):
        items = tuple(_changed(x, change) for x in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    if is_dataclass(value) and not isinstance(value, Span | ast.Ident):
        return change(value)
    return value
