"""Traversals of syntax trees, by the fields of their nodes: of kernels, descriptions and sketches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from hbc.frontend.text import ast
from hbc.ir.ground.source import Source, Span
from hbc.ir.ground.tree import children_by_class, map_by_class

N = TypeVar("N")
ExprMap = Callable[[ast.Expr], ast.Expr]

_VALUES: Final = frozenset({"str", "int", "float", "bool", "None", "tuple", "Span", "Source"})
_CHILDREN: Final = children_by_class(lambda word: word not in _VALUES)
_MAPPED: Final = map_by_class([lambda word: word not in _VALUES and word != "Ident"])
_MOVED: Final = map_by_class([lambda word: word not in _VALUES or word == "Span"])


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
        stack.extend(_CHILDREN[node.__class__](node))


def mapped(node: N, change: ExprMap) -> N:
    """The node with the outermost expressions below it changed; the same object where none was."""

    def below(child: object) -> object:
        return change(child) if isinstance(child, ast.Expr) else mapped(child, change)

    made: N = _MAPPED[node.__class__](node, below)
    return made


def moved(node: N, source: Source, by: int) -> N:
    """The node as it stands in another source, `by` characters later."""

    def move(part: Any) -> Any:
        cls = part.__class__
        if cls is Span:
            return Span(source, part.start + by, part.end + by)
        return _MOVED[cls](part, move)

    made: N = move(node)
    return made


def free_names(root: object) -> Iterator[tuple[ast.Name, frozenset[str]]]:
    """The names in it that no `let` and no reduction in it binds, in the order of the text, each with those
    that are bound where it stands."""
    stack: list[tuple[object, frozenset[str]]] = [(root, frozenset())]
    while stack:
        node, bound = stack.pop()
        match node:
            case ast.Let(name=name, value=value, body=body):
                stack += [(body, bound | {name.text}), (value, bound)]
            case ast.Reduction(over=over):
                inside = bound | own_names(node)
                parts = [node.term, node.condition]
                stack += [(part, inside) for part in parts if part is not None]
                stack += [(o.interval, bound) for o in over if isinstance(o, ast.Domain)]
            case ast.Name(text=text):
                if text not in bound:
                    yield node, bound
            case _:
                stack += [(child, bound) for child in reversed(children(node))]


def own_names(e: ast.Reduction) -> set[str]:
    """The names of the variables that a reduction runs along."""
    own = {o.name.text for o in e.over if isinstance(o, ast.Domain)}
    return own | {o.text for o in e.over if isinstance(o, ast.Name)}
