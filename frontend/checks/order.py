"""Puts Funcs into an order where callees come first, and reports those that define each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hbc.frontend.program.scope import Scope
from hbc.frontend.text import ast
from hbc.frontend.text.walk import nodes
from hbc.ir.ground.diag import Note


def names_read(roots: Iterable[object]) -> set[str]:
    """The names that expressions read with indices."""
    return {n.name.text for n in nodes(*roots) if isinstance(n, ast.Access)}


def callees_first(
    graph: Mapping[str, list[str]], spans: Mapping[str, ast.Ident], scope: Scope
) -> list[str]:
    """The names in an order where callees come first. Those on a cycle are reported, and left out
    of each other's way."""
    order: list[str] = []
    state: dict[str, int] = {}  # 1 on the path, 2 done
    for root in graph:
        path = [(root, iter(graph[root]))] if root not in state else []
        state.setdefault(root, 1)
        while path:
            name, rest = path[-1]
            callee = next(rest, None)
            if callee is None:
                path.pop()
                state[name] = 2
                order.append(name)
            elif callee not in state:
                state[callee] = 1
                path.append((callee, iter(graph[callee])))
            elif state[callee] == 1:
                cycle = [n for n, _ in path]
                report_cycle(cycle[cycle.index(callee) :], spans, scope)
    return order


def report_cycle(cycle: list[str], spans: Mapping[str, ast.Ident], scope: Scope) -> None:
    if len(cycle) == 1:
        scope.report(
            f"the pure step of `{cycle[0]}` reads itself", spans[cycle[0]].span,
            f"begin with `{cycle[0]}[...] = 0`, then update it along a `reduce` variable",
        )  # fmt: skip
        scope.broken.update(cycle)
        return
    shown = " -> ".join(f"`{n}`" for n in [*cycle, cycle[0]])
    notes = [Note(f"`{n}` is defined here", spans[n].span) for n in cycle[1:]]
    scope.broken.update(cycle)
    scope.report(
        f"these Funcs read each other: {shown}", spans[cycle[0]].span,
        "only a Func that updates itself along a `reduce` variable may read itself", *notes,
    )  # fmt: skip


def reachable(graph: Mapping[str, list[str]], roots: Iterable[str]) -> set[str]:
    """The names that the roots need, themselves included."""
    names: set[str] = set()
    stack = [r for r in roots if r in graph]
    while stack:
        name = stack.pop()
        if name not in names:
            names.add(name)
            stack.extend(graph[name])
    return names
