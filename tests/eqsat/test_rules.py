"""Every rewrite rule keeps the value: random terms, the rules run, all forms evaluated with NumPy.

The terms are over integers, which wrap: equality is exact.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from evaluation import DTYPES, Array, World, evaluate, parsed

from hbc.eqsat.egraph import RULES, EGraph, Term, rules_text
from hbc.eqsat.encode import type_facts

OUTPUTS, SUMMED = (0, 1), (2, 3)
EXTENTS = [2, 3, 4, 2]  # two output dimensions, two that are summed; then the windows
WINDOWS = tuple((d, r) for d in OUTPUTS for r in SUMMED)
EXTENTS += [EXTENTS[d] + EXTENTS[r] - 1 for d, r in WINDOWS]
TYPES = ("u8", "i8", "i16", "i32")
VALUE_RULES = ("axioms", "application")
FORMS = 40
TRIALS = 120


@dataclass
class Draft:
    """A random term, and what is known of its reads."""

    random: np.random.Generator
    facts: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)  # every part of it, the whole last

    def pick(self, *words: str) -> str:
        return words[int(self.random.integers(len(words)))]

    def read(self, element: str, dims: list[int]) -> str:
        strides = "(map-empty)"
        for d in dims:
            strides = f"(map-insert {strides} {1 << d} {int(self.random.integers(1, 3))})"
        e = f"(Read {TYPES.index(element)} {strides})"
        moving = sum(1 << d for d in dims)
        self.facts += [f"(set (along {e}) {moving})", f'(set (element {e}) "{element}")']
        return e

    def narrow(self, most: str = "i16") -> str:
        element = self.pick("u8", "i8") if most == "i16" else self.pick("u8", "i8", "i16")
        dims = [d for d in (*OUTPUTS, *SUMMED) if self.random.random() < 0.5]
        return self.read(element, dims)

    def leaf(self) -> str:
        self.made.append(self._leaf())
        return self.made[-1]

    def _leaf(self) -> str:
        match self.pick("read", "cast", "twice", "product", "same", "narrowed"):
            case "read":
                dims = [d for d in (*OUTPUTS, *SUMMED) if self.random.random() < 0.5]
                return self.read("i32", dims)
            case "cast":
                return f'(Cast "i32" {self.narrow("i32")})'
            case "twice":
                return f'(Cast "i32" (Cast "i16" {self.narrow()}))'
            case "narrowed":
                return f'(Cast "i32" (Cast "i16" {self.read("i32", [SUMMED[0]])}))'
            case "same":
                return f'(Cast "i32" {self.leaf()})'
            case _:
                a, b = f'(Cast "i16" {self.narrow()})', f'(Cast "i16" {self.narrow()})'
                return f'(Cast "i32" (Bin "*" {a} {b}))'

    def convolution(self) -> str:
        d, r = WINDOWS[int(self.random.integers(len(WINDOWS)))]
        stride = f"(map-insert (map-insert (map-empty) {1 << d} 2) {1 << r} 2)"
        image = f"(Read 0 {stride})"
        self.facts += [f"(set (along {image}) {1 << d | 1 << r})", f'(set (element {image}) "u8")']
        kernel = self.read("i8", [r, *([1 - d] if self.random.random() < 0.5 else [])])
        product = f'(Bin "*" (Cast "i32" {image}) (Cast "i32" {kernel}))'
        return f'(Reduce "+" {1 << r} {product})'

    def term(self, depth: int = 3) -> str:
        self.made.append(self._term(depth))
        return self.made[-1]

    def _term(self, depth: int) -> str:
        match (
            self.pick("leaf", "sum", "product", "reduce", "reduce", "convolution") if depth else ""
        ):
            case "sum":
                return f'(Bin "+" {self.term(depth - 1)} {self.term(depth - 1)})'
            case "product":
                return f'(Bin "*" {self.term(depth - 1)} {self.term(depth - 1)})'
            case "reduce":
                mask = self.pick("4", "8", "12")
                return f'(Reduce "+" {mask} {self.term(depth - 1)})'
            case "convolution":
                return self.convolution()
            case _:
                return self.leaf()


def saturated(draft: Draft, rules: dict[str, str] | None = None) -> EGraph:
    """The e-graph of the term after two rounds."""
    g = EGraph(rules)
    windows = [f"(Window {1 << d} {1 << r} {1 << (4 + n)})" for n, (d, r) in enumerate(WINDOWS)]
    g.run("\n".join([type_facts(), *windows, f"(let $root {draft.made[-1]})", *draft.facts]))
    g.run("(run-schedule (repeat 2 (saturate (run facts)) (run axioms) (run application)))")
    return g


def same(t: Term, want: Array, w: World) -> bool:
    """Whether a form has the value; one that is not even typed has not."""
    try:
        got = evaluate(t, w)
    except TypeError:
        return False
    return got.dtype == want.dtype and np.array_equal(*np.broadcast_arrays(want, got))


def world(random: np.random.Generator) -> World:
    buffers = []
    for name in TYPES:
        limits = np.iinfo(DTYPES[name])
        buffers.append(
            random.integers(limits.min, limits.max, 200, dtype=DTYPES[name], endpoint=True)
        )
    return World(tuple(EXTENTS), tuple(buffers), ())


def mismatches(trials: int, rules: dict[str, str] | None = None) -> tuple[list[str], Counter[str]]:
    """Forms that differ in value from the term they came from, and how often each rule fired."""
    random = np.random.default_rng(5)
    wrong: list[str] = []
    fired: Counter[str] = Counter()
    for _ in range(trials):
        draft = Draft(random)
        draft.term()
        g = saturated(draft, rules)
        w = world(random)
        fired += g.fired
        for part in dict.fromkeys(draft.made):
            want = evaluate(parsed(part), w)
            wrong += [f"{part}\n  !=\n{t}" for t in g.variants(part, FORMS) if not same(t, want, w)]
    return wrong, fired


def test_every_rule_keeps_the_value() -> None:
    wrong, fired = mismatches(TRIALS)
    assert not wrong, wrong[0]
    names = set(re.findall(r':name "([^"]+)"', "".join(rules_text(n) for n in VALUE_RULES)))
    assert names <= fired.keys(), f"never fired: {names - fired.keys()}"


# By name: the file, what is taken out, and what comes in its place.
MUTATIONS = {
    "factor-out": ("axioms", "(= 0 (& v m)))\n      ((union e (Bin", ")\n      ((union e (Bin"),
    "factor-in": ("axioms", "(= 0 (& v m)))\n      ((union e (Red", ")\n      ((union e (Red"),
    "reductions-merge": ("axioms", ":when ((= 0 (& m n)))", ""),
    "reduction-of-sum": ("axioms", '(Reduce "+" m x) (Reduce "+" m y)', '(Reduce "+" m x) y'),
    "reduction-last": (
        "axioms",
        '(Bin "+" x z) (Reduce "+" m y)',
        '(Bin "+" x x) (Reduce "+" m y)',
    ),
    "widened-twice": ("axioms", "(Exact v u) (Exact u t)", "(Exact u t)"),
    "cast-to-itself": ("axioms", "(= t (element x))) ((union", "(= u (element x))) ((union"),
    "product-widened-before": ("axioms", "(Cast t x) (Cast t y)", "(Cast t x) (Cast t x)"),
    "convolution-stride": ("application", "(= (map-get p d) (map-get p r)) ", ""),
    "convolution-band": ("application", "(Band y d t r)", "y"),
    "bounds-type": ("facts", "(set (most x) hi))", "(set (most x) 1))"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_rule_is_caught(name: str) -> None:
    """The check above can fail: with any of these rules broken, it does."""
    file, old, new = MUTATIONS[name]
    texts = {n: rules_text(n) for n in RULES}
    assert old in texts[file], "the mutation no longer applies"
    wrong, _ = mismatches(TRIALS, {**texts, file: texts[file].replace(old, new)})
    assert wrong
