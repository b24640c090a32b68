"""Nests of steps that have loops in common: made of their own nests, and kept in step with the leader's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from hbc.frontend.regions.nest import Joined, Nest
from hbc.frontend.regions.regions import greater, lesser
from hbc.ir.algebra.bounds import Interval, prove
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, le, sub


def in_one(nests: Sequence[Nest], ranges: Mapping[str, Interval]) -> Nest:
    """The nest of the leader, the first of them, with the others joined to it: its loops run over all that
    one of those needs which have them."""
    leader, *others = nests
    if not others:
        return leader
    roots = [leader.stage.roots]
    roots += [tuple(r for r in n.stage.roots if r in _ancestry(n)) for n in others]
    wider: list[Nest] = list(nests)
    for root in leader.stage.roots:
        having = [n for n, own in enumerate(roots) if root in own]
        if len(having) == 1:
            continue
        starts = [nests[n].starts[root] for n in having]
        stops = [simplify(add(nests[n].starts[root], nests[n].extents[root])) for n in having]
        start = reduce(lambda a, b: lesser(a, b, ranges), starts)
        stop = reduce(lambda a, b: greater(a, b, ranges), stops)
        for n, own_start, own_stop in zip(having, starts, stops, strict=True):
            first = None if prove(le(own_start, start), ranges) else simplify(sub(own_start, start))
            last = None if prove(le(stop, own_stop), ranges) else simplify(sub(own_stop, start))
            within = {} if first is None and last is None else {root: (first, last)}
            wider[n] = replace(
                wider[n],
                starts={**wider[n].starts, root: start},
                extents={**wider[n].extents, root: simplify(sub(stop, start))},
                within={**wider[n].within, **within},
            )
    return replace(wider[0], joined=tuple(Joined(n, n.stage.shared) for n in wider[1:]))


def in_step(nest: Nest, joined: Joined) -> Nest:
    """The nest of a joined step where the leader's is inside of loops that both have: of what these loops are
    made from, it knows what the leader's does."""
    own = joined.nest
    dims, relations = own.stage.ancestry(joined.loops)

    def known(of: Mapping[str, ir.Expr]) -> dict[str, ir.Expr]:
        return {dim: e for dim, e in of.items() if dim in dims}

    return replace(
        own,
        extents={**own.extents, **known(nest.extents)},
        fixed=known(nest.fixed),
        bases={s: base for s, base in nest.bases.items() if s in relations},
        whole=own.whole | (nest.whole & relations),
        guarded=nest.guarded & relations,
        cut=nest.cut & dims,
        shifting=nest.shifting,
    )


def joined_at(nest: Nest, loop: str) -> list[Nest]:
    """The nests of the steps that are in a loop of the leader's as well."""
    depth = [x.name for x in nest.stage.loops].index(loop)
    return [in_step(nest, j) for j in nest.joined if j.loops > depth]


def _ancestry(nest: Nest) -> frozenset[str]:
    return nest.stage.ancestry(nest.stage.shared)[0]
