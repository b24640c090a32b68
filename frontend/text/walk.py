"""Traversals of syntax trees, by the fields of their nodes: of kernels, descriptions and sketches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from hbc.frontend.text import ast
from hbc.ir.ground.tree import children_by_class, map_by_class

N = TypeVar("N")
ExprMap = Callable[[ast.Expr], ast.Expr]

_VALUES: Final = frozenset({"str", "int", "float", "bool", "None", "tuple", "Span", "Source"})
_CHILDREN: Final = children_by_class(lambda word: word not in _VALUES)
_MAPPED: Final = map_by_class([lambda word: word not in _VALUES and word != "Ident"])


def children(node: object) -> tuple[object, ...]:
    """What lies directly below a node."""
    found: tuple[object, ...] = _CHILDREN[node.__class__](node)
    return found


def nodes(*roots: object) -> Iterator[object]:
    """The trees' nodes, parents first, the last children before the others; without recursion."""
    stack = list(roots)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(node))


def mapped(node: N, change: ExprMap) -> N:
    """The node with the outermost expressions below it changed; the same object where none was."""

    def below(child: object) -> object:
        return change(child) if isinstance(child, ast.Expr) else mapped(child, change)

    made: N = _MAPPED[node.__class__](node, below)
    return made
