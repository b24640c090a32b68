"""A program as steps that read Funcs, with how much of each is needed at typical sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hbc.frontend.costs.choices import Choices
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.spans import Box, Known, Span, around, index_span, length
from hbc.frontend.plans.legal import stage_expressions
from hbc.frontend.plans.plan import stage_vars, step
from hbc.frontend.program.funcs import Func, Pipeline
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import nodes_of

UNKNOWN = 4096  # values of an index of which nothing is known


@record
class Step:
    """The definition of a Func (`update` None) or one of its updates. `reads`: what it reads besides
    the Func itself."""

    func: str
    update: int | None
    pure: tuple[str, ...]
    reduce: tuple[str, ...]
    reads: tuple[ir.Access, ...]

    @property
    def key(self) -> tuple[str, int | None]:
        return self.func, self.update

    @property
    def text(self) -> str:
        """How a schedule names it."""
        if self.update is None:
            return self.func
        return f"{self.func}.update" if self.update == 0 else f"{self.func}.update({self.update})"


@record
class Graph:
    """`funcs`, callees first, are those that exist after inlining; `whole` has the values of each
    variable that are needed, `ranges` the sizes and reductions as spans. `shapes`: those that were made for
    other choices too (`shape_of`). `innermost`: the variables that lie so in memory, where they are not the
    last (`storage.py`)."""

    pipeline: Pipeline
    funcs: dict[str, Func]
    steps: Mapping[str, tuple[Step, ...]]
    sizes: Known
    whole: Mapping[str, Box] = field(default_factory=dict)
    promised: Mapping[str, tuple[Span | None, ...]] = field(default_factory=dict)
    dots: tuple[Dot, ...] = ()
    words: frozenset[str] = frozenset()  # that new loops must not be named by
    choices: Choices = field(default_factory=Choices)
    innermost: Mapping[str, str] = field(default_factory=dict)
    shapes: dict[Any, list[Any]] = field(default_factory=dict, compare=False, repr=False)

    def name(self, v: str, suffix: str) -> str:
        """The name of a loop made of that of a variable."""
        name = v + suffix
        while name in self.words:
            name += suffix or "u"
        return name

    @property
    def numbers(self) -> dict[str, int]:
        """The sizes."""
        return {name: span[0] for name, span in self.sizes.items()}

    @property
    def outputs(self) -> frozenset[str]:
        return frozenset(self.pipeline.output_funcs)

    def read_by(self, name: str) -> set[str]:
        """What the Func reads as it is written, before anything was substituted."""
        return {a.name for s in steps_of(self.pipeline.func(name)) for a in s.reads}

    def readers(self, name: str) -> list[Step]:
        """The steps of other Funcs that read it."""
        return [
            s
            for each in self.steps.values()
            for s in each
            if s.func != name and any(a.name == name for a in s.reads)
        ]

    def box(self, name: str) -> Box:
        return self.whole[name]

    def known(self, s: Step, box: Box) -> dict[str, Span]:
        """The spans of all names in a step that computes the box of its Func."""
        func = self.funcs[s.func]
        spans = {**self.sizes, **dict(zip(func.variables, box, strict=True))}
        u = step(func, s.update)
        for r in () if u is None else u.reduce:
            start = index_span(r.start, self.sizes, {}) or (0, 0)
            extent = index_span(r.extent, self.sizes, {}) or (1, UNKNOWN)
            spans[r.name] = (start[0], start[1] + max(extent[1], 1) - 1)
        return spans

    def read_box(self, a: ir.Access, known: Known) -> Box:
        """Which points of a Func an access reads."""
        func = self.funcs[a.name]
        whole = self.whole.get(a.name)
        spans: list[Span] = []
        for d, index in enumerate(a.indices):
            span = index_span(index, known, self.funcs)
            if span is None:
                span = whole[d] if whole else (0, UNKNOWN - 1)
            elif whole:
                span = max(span[0], whole[d][0]), max(min(span[1], whole[d][1]), whole[d][0])
            spans.append(span)
        assert len(spans) == len(func.variables)
        return tuple(spans)

    def iterations(self, s: Step, box: Box) -> int:
        """How often the step is done for a box of its Func."""
        known = self.known(s, box)
        count = 1
        for name in (*s.pure, *s.reduce):
            count *= length(known[name])
        return count


def graph_of(p: Pipeline, funcs: dict[str, Func], sizes: Mapping[str, int]) -> Graph:
    """The graph of these Funcs (callees first), and what the outputs need of each of them."""
    steps = {name: steps_of(f) for name, f in funcs.items()}
    words = words_of(p)
    graph = Graph(p, funcs, steps, {n: (v, v) for n, v in sizes.items()}, {}, {}, (), words)
    whole: dict[str, Box] = {}
    for name, o in p.output_funcs.items():
        spans = [index_span(e, graph.sizes, {}) or (1, UNKNOWN) for e in o.extents]
        whole[name] = tuple((0, max(s[1], 1) - 1) for s in spans)
    for name in reversed(funcs):
        if name not in whole:
            continue  # nothing reads it
        for s in steps[name]:
            known = graph.known(s, whole[name])
            for a in s.reads:
                if a.name in funcs:
                    box = graph.read_box(a, known)
                    old = whole.get(a.name)
                    whole[a.name] = around([box] if old is None else [old, box]) or box
    live = {n: f for n, f in funcs.items() if n in whole}
    return Graph(p, live, {n: steps[n] for n in live}, graph.sizes, whole, {}, (), words)


def steps_of(func: Func) -> tuple[Step, ...]:
    """All steps of a Func, in order."""
    steps = []
    for update in (None, *range(len(func.updates))):
        u = step(func, update)
        reads = tuple(
            dict.fromkeys(
                n
                for e in stage_expressions(func, update)
                for n in nodes_of(e, ir.Access)
                if n.name != func.name
            )
        )
        pure = stage_vars(func, u)
        reduce = () if u is None else tuple(r.name for r in u.reduce)
        steps.append(Step(func.name, update, pure, reduce, reads))
    return tuple(steps)


def words_of(p: Pipeline) -> frozenset[str]:
    """Every name of the algorithm. (Those of params are gone from the checked program.)"""
    params = re.findall(r"\bparam\s+([A-Za-z_]\w*)", p.source.text)
    names = {*params, *(s.name for s in p.sizes), *(i.name for i in (*p.inputs, *p.outputs))}
    for f in p.funcs:
        names |= {
            *(p.name for p in f.parts),
            *f.variables,
            *(r.name for u in f.updates for r in u.reduce),
        }
    return frozenset(names)
