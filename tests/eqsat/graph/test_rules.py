"""Every rewrite rule keeps the value: random terms, the rules run, all forms evaluated with NumPy.

What is compared: each form of each part with the part, the facts (along, element, least, most) with
the values, factors, products and candidates with what they say they are. Where a statement's mask
makes values dead, only live points count. The elements read must lie among those read before, but for
values that a store has made 0 where they do not exist.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
import pytest
from evaluation import Array, World, evaluate, same
from tensors import OUTPUTS, SHAPES, SUMMED, TOTALS, Draft, cast, data

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.eqsat.graph.decode import decode
from hbc.eqsat.graph.egraph import RULES, EGraph, Term, rules_text
from hbc.eqsat.graph.encode import Encoding, encode, type_facts, windows
from hbc.eqsat.graph.lowering import NOTHING, lowering_rules, selectable
from hbc.eqsat.tensors.tensor import Masked, Tensor, parts
from hbc.frontend.isa.load import load_instructions
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import numpy_dtype

FORMS = 60
TRIALS = 6 * SHAPES
ROUNDS = 3
MOST_TERMS = 1500
INSTRUCTIONS = tuple(
    i for i in load_instructions(builtin_descriptions()).instructions if selectable(i)
)
LOWERING = lowering_rules(INSTRUCTIONS)
BAD = (TypeError, KeyError, IndexError, ValueError, AssertionError)
"""What ill-typed forms of broken rules raise."""


@dataclass
class Saturated:
    """The e-graph of a draft, what its numbers mean, and where values count. `values`: those of terms, as
    far as somebody asked."""

    graph: EGraph
    of: Encoding
    draft: Draft
    dead: tuple[Tensor, ...]
    arrays: dict[str, Array]
    values: dict[Term, Array | None] = field(default_factory=dict)

    def world(self) -> World:
        return World(tuple(self.of.dims), self.arrays)

    @cached_property
    def live(self) -> Array:
        w = self.world()
        found = np.ones([1] * len(w.dims), bool)
        for c in self.dead:
            found = found & evaluate(c, w)
        return found


def graph(texts: dict[str, str]) -> EGraph:
    """An e-graph with all rules, which take longer to declare than to run."""
    g = EGraph({name: texts[name] for name in RULES})
    g.run(texts["lowering"])
    return g


def saturated(seed: int, g: EGraph) -> Saturated:
    """A random draft after some rounds of the rules."""
    random = np.random.default_rng(seed)
    draft = Draft(random, seed // SHAPES, cosines=True)
    draft.shaped(draft.pick(*TOTALS), seed % SHAPES, depth=seed % 2)
    of = Encoding()
    for d in (*OUTPUTS, *SUMMED):
        of.bit(d)
    named = [encode(x, of) for x in draft.made]
    masks = [c for x in draft.made for c in masks_of(x) if not moves_summed(c)]
    often = (0.0, 1.0, 0.5)[seed // SHAPES % 3]
    dead = tuple(dict.fromkeys(c for c in masks if draft.chance(often)))
    known = [type_facts(), *(f"(Dead {encode(c, of)})" for c in dead), *windows(OUTPUTS, of)]
    known += [f"(Zero {encode(c, of)} {encode(x, of)})" for c, x in draft.zeros]
    known += [f"(Local {encode(x, of)})" for x in draft.local]
    g.run("\n".join([*known, *(f"(let $n{n} {e})" for n, e in enumerate(named)), *of.facts]))
    for _ in range(ROUNDS):
        g.run("(run-schedule (saturate (run facts)) (run axioms) (saturate (run facts))"
              " (repeat 3 (run application)))")  # fmt: skip
        if g.size() > MOST_TERMS:
            break
    g.run("(run-schedule (saturate (run facts)) (saturate (run lowering)))")
    return Saturated(g, of, draft, dead, data(random))


def masks_of(x: Tensor) -> Iterator[Tensor]:
    """The conditions of the masks in it."""
    if isinstance(x, Masked):
        yield x.condition
    for p in parts(x):
        yield from masks_of(p)


def moves_summed(x: Tensor) -> bool:
    """Whether a condition is another one along a summed dimension."""
    w = World((*OUTPUTS, *SUMMED), {})
    return evaluate(x, w).shape[len(OUTPUTS) :] != (1, 1)


def mistakes(s: Saturated) -> Iterator[str]:
    """What is wrong in the e-graph."""
    yield from wrong_forms(s)
    yield from wrong_facts(s)
    yield from wrong_relations(s)


def wrong_forms(s: Saturated) -> Iterator[str]:
    """Forms that differ in value from the part they came from, or that read more."""
    for n, x in enumerate(s.draft.made):
        before = s.world()
        want = evaluate(x, before)
        for t in s.graph.variants(f"$n{n}", FORMS):
            after = s.world()
            got = value_in(after, t, s)
            if got is None or not same(got, want, s.live):
                yield f"{x}\n  !=\n{t}"
            elif not (s.draft.zeros or s.draft.local) and any(
                reads_more(before, after, b) for b in after.touched
            ):
                yield f"{t}\n  reads more than\n{x}"


def reads_more(before: World, after: World, buffer: str) -> bool:
    """Whether elements outside of those read before, or between them, are read."""
    old, new = before.touched.get(buffer, set()), after.touched[buffer]
    return bool(new) and (not old or min(new) < min(old) or max(new) > max(old))


def value_of(t: Term | int | float | str, s: Saturated) -> Array | None:
    """The value of a term; None where it is not even typed."""
    assert isinstance(t, Term)
    if t not in s.values:
        s.values[t] = value_in(s.world(), t, s)
    return s.values[t]


def value_in(w: World, t: Term, s: Saturated) -> Array | None:
    """The same, and the world is told what it reads."""
    try:
        return evaluate(decode(t, s.of), w)
    except BAD:
        return None


def wrong_facts(s: Saturated) -> Iterator[str]:
    """Facts that do not hold for the values."""
    dims = s.of.dims
    for name in ("along", "element", "least", "most"):
        for t, fact in s.graph.table(name):
            x = value_of(t, s)
            if x is None:
                yield f"{name}: {t} has no value"
                continue
            x = np.where(s.live, x, x.flat[0]) if name in ("least", "most") else x
            match name, fact:
                case "along", int(mask):
                    for n in range(len(dims)):
                        if not mask >> n & 1 and not constant_along(x, n, s.live):
                            yield f"{t} moves along {dims[n]}"
                case "element", str(element):
                    if x.dtype != numpy_dtype(DTYPES[element]):
                        yield f"{t} is {x.dtype}, not {element}"
                case "least", int(bound):
                    if x.min() < bound:
                        yield f"{t} is less than {bound}"
                case "most", int(bound):
                    if x.max() > bound:
                        yield f"{t} is greater than {bound}"
                case _:
                    yield f"{name} of {t} is {fact}"


def constant_along(x: Array, axis: int, live: Array) -> bool:
    """Whether live values are equal along an axis."""
    a, on = np.broadcast_arrays(x, live)
    if a.shape[axis] == 1:
        return True
    for n in range(1, a.shape[axis]):
        first, other = a.take(0, axis), a.take(n, axis)
        both = on.take(0, axis) & on.take(n, axis)
        if not np.array_equal(first[both], other[both]):
            return False
    return True


def wrong_relations(s: Saturated) -> Iterator[str]:
    """Factors and candidates that are not what they say."""
    for x, element, i in s.graph.rows("Factor"):
        want, got = value_of(x, s), value_of(i, s)
        if want is None or got is None or not same(cast_to(got, i, element, s), want, s.live):
            yield f"Factor {x} {element} {i}"
    for row in s.graph.rows("Candidate"):
        types, e, c, mask, a, b = row
        if not is_sum(s, types, e, None if c == NOTHING else c, mask, a, b):
            yield f"Candidate {row}"


def cast_to(x: Array, t: object, element: object, s: Saturated) -> Array:
    assert isinstance(t, Term) and isinstance(element, str)
    return evaluate(cast(element, decode(t, s.of)), s.world())


def is_sum(
    s: Saturated, types: object, e: object, c: object, mask: object, a: object, b: object
) -> bool:
    """Whether e is c plus the sum over the dims of a times b, in the types of the instruction."""
    assert isinstance(types, str) and isinstance(mask, int)
    assert isinstance(e, Term) and isinstance(a, Term) and isinstance(b, Term)
    total, first, second = types.split("+")
    try:
        x, y = decode(a, s.of), decode(b, s.of)
        if (x.element.name, y.element.name) != (first, second):
            return False
        product = evaluate(cast(total, x), s.world()) * evaluate(cast(total, y), s.world())
        got = s.world().full(product, s.of.of_mask(mask))
        axes = tuple(s.of.dims.index(d) for d in s.of.of_mask(mask))
        got = got.sum(axes, keepdims=True, dtype=got.dtype)
        if isinstance(c, Term):
            got = got + evaluate(decode(c, s.of), s.world())
        return same(got, evaluate(decode(e, s.of), s.world()), s.live)
    except BAD:
        return False


def check(
    seeds: Iterable[int], texts: dict[str, str], patient: bool
) -> tuple[list[str], dict[int, Counter[str]]]:
    """What is wrong in the e-graphs of random terms, and how often each rule fired in each. Without
    patience, ends with the first mistake."""
    fired: dict[int, Counter[str]] = {}
    found: list[str] = []
    g = graph(texts)
    for seed in seeds:
        with g.apart():
            s = saturated(seed, g)
            fired[seed] = g.fired.copy()
            for mistake in mistakes(s):
                found.append(f"seed {seed}: {mistake}")
                if not patient:
                    return found, fired
    return found, fired


@cache
def checked() -> tuple[list[str], dict[int, Counter[str]]]:
    """The same for the rules as they are."""
    return check(range(TRIALS), texts(), patient=True)


def texts() -> dict[str, str]:
    """The rules of the files and those made from the instructions."""
    return {**{name: rules_text(name) for name in RULES}, "lowering": LOWERING}


def test_every_rule_keeps_the_value() -> None:
    wrong, fired = checked()
    assert not wrong, wrong[0]
    names = set(re.findall(r':name "([^"]+)"', "".join(rules_text(n) for n in RULES)))
    ever = {name for one in fired.values() for name in +one}
    assert names <= ever, f"never fired: {names - ever}"


# By name: the file, what is taken out, and what comes in its place.
MUTATIONS = {
    "add-commutes": ("axioms", '(Bin "+" x y) (Bin "+" y x)', '(Bin "+" x y) (Bin "+" y y)'),
    "reduction-last": (
        "axioms",
        '(Bin "+" (Bin "+" x (Reduce "+" m y)) z)))\n      ((union e (Bin "+" (Bin "+" x z)',
        '(Bin "+" (Bin "+" x (Reduce "+" m y)) z)))\n      ((union e (Bin "+" (Bin "+" x x)',
    ),
    "reduction-out": ("axioms", '(Bin "+" (Reduce "+" m y) z))', '(Bin "+" (Reduce o m y) z))'),
    "factor-out": ("axioms", "(= 0 (& v m)))\n      ((union e (Bin", ")\n      ((union e (Bin"),
    "factor-in": ("axioms", "(= 0 (& v m)))\n      ((union e (Red", ")\n      ((union e (Red"),
    "reductions-merge": ("axioms", '(Reduce "+" (| m n) x)', '(Reduce "+" m x)'),
    "reduction-of-sum": ("axioms", '(Reduce "+" m x) (Reduce "+" m y)', '(Reduce "+" m x) y'),
    "widened-twice": ("axioms", "(Exact v u) (Exact u t)", "(Exact u t)"),
    "cast-to-itself": ("axioms", "(= t (element x))) ((union", "(= u (element x))) ((union"),
    "product-beyond-limits": (
        "axioms",
        "(<= (max (max (* a c) (* a d)) (max (* b c) (* b d))) high)",
        "",
    ),
    "mask-of-product": (
        "masks",
        '(Bin "*" (Masked c x) (Masked c y))',
        '(Bin "*" (Masked c x) y)',
    ),
    "mask-of-sum": (
        "masks",
        '(Bin "+" (Masked c x) (Masked c y))',
        '(Bin "+" (Masked c x) y)',
    ),
    "mask-of-cast": ("masks", "(= e (Masked c (Cast t x)))", "(= e (Masked c (Un t x)))"),
    "masks-commute": ("masks", "(Masked d (Masked c x))", "(Masked d x)"),
    "mask-twice": ("masks", "(= e (Masked c (Masked c x)))", "(= e (Masked c (Masked d x)))"),
    "mask-of-function": ("masks", "(Masked c (Fn f x))) (KeepsZero f))", "(Masked c (Fn f x))))"),
    "dead-mask": ("masks", "(= e (Masked c x)) (Dead c) (= v", "(= e (Masked c x)) (= v"),
    "dead-mask-moving": ("masks", "(= 0 (& v w)))\n      ((Bare e x))", ")\n      ((Bare e x))"),
    "dead-mask-below-cast": ("masks", "((Bare e (Cast t x)))", "((Bare e x))"),
    "dead-mask-below-function": ("masks", "((Bare e (Fn f x)))", "((Bare e x))"),
    "mask-of-dead": ("masks", '((union e (Bin "*" z y)))', '((union e (Bin "*" z z)))'),
    "mask-of-zero": ("masks", "(Zero c x)) ((union e x))", "(Zero c y)) ((union e x))"),
    "mask-of-local": ("masks", "(Dead c) (Local x)", "(Local x)"),
    "masked-image": (
        "masks",
        "(Slides e c d r t j k masked)",
        "(Slides e c d r t j k image)",
    ),
    "masked-image-step": ("masks", "(= 0 (* (- k 1) (- (map-get l r) 1)))", ""),
    "masked-image-apart": ("masks", "(Slid c d r t j k)", "(Slid c d r t j 1)"),
    "masked-image-down": ("masks", "(< (map-get l r) 1099511627776)", ""),
    "dead-image": ("masks", "(Dead c)\n", "\n"),
    "dead-image-step": (
        "masks",
        "(= 0 (* (- j 1) (- (map-get l d) 1)))",
        "",
    ),
    "dead-image-end": ("masks", "(Reached c u d r t j k)", "(Reached c u d d t j k)"),
    "dead-image-taps": (
        "masks",
        "(Reached c u d r t j k)",
        "(Reached c (Everywhere) d r t j k)",
    ),
    "masked-image-first": (
        "masks",
        "(= i (Read x p)) (= e (Masked c i)) (= r",
        "(= e (Masked c i)) (= r",
    ),
    "dead-image-under": (
        "masks",
        '(Slides e u d r t j k masked))\n      :ruleset application :name "dead',
        '(Slides e (Everywhere) d r t j k masked))\n      :ruleset application :name "dead',
    ),
    "image-slides-beside": ("masks", "(= 0 (& w (| d r)))\n", "(= 0 (& w r))\n"),
    "image-slides-beside-mask": (
        "masks",
        '(Slides e u d r t j k masked))\n      :ruleset application :name "image',
        '(Slides e u d r t j k image))\n      :ruleset application :name "image',
    ),
    "reached": ("facts", "(| (& v (not-i64 d)) t)) (set", "(& v (not-i64 d))) (set"),
    "masked-convolution": ("masks", "(= f (Masked c h))", "(= f h)"),
    "slid": ("facts", "((set (along e) t) (set", "((set (along e) d) (set"),
    "widened-between": ("axioms", "(Between v u t))", "(Between w u t))"),
    "sign-and-back": (
        "axioms",
        "(= e (Cast t (Cast u x))) (= t (element x))",
        "(= e (Cast t (Cast u x))) (= v (element x))",
    ),
    "sum-of-other-sign": ("axioms", "(= v (element x)) (Limits v a b)", "(= v (element x))"),
    "sum-of-other-width": ("axioms", "(Cast t y)))) (Sibling t u)", '(Cast t y)))) (= u "i8")'),
    "sum-as-other-sign": (
        "axioms",
        "(= u (element y)) (Sibling t u))\n      ((union e (Cast t (Bin",
        "(= u (element y)))\n      ((union e (Cast t (Bin",
    ),
    "factor-cast": ("application", "((Factor x u i))", '((Factor x "i8" i))'),
    "convolution-step": ("application", "t (/ q k))", "t q)"),
    "convolution-filter": ("application", "(Band f d t r j k)", "f"),
    "convolution-image": ("application", "(= q (map-get p r))\n", ""),
    "convolution-slope": ("application", "(Band f d t r j k)", "(Band f d t r 1 k)"),
    "convolution-dilated": ("application", "(Band f d t r j k)", "(Band f d t r j 1)"),
    "convolution-along": ("application", "(| (& o (not-i64 (| d r))) t)", "(& o (not-i64 d))"),
    "along-reduce": ("facts", "(& v (not-i64 m))", "0"),
    "along-band": ("facts", "(| (& v (not-i64 r)) (| d t))", "(| v d)"),
    "along-masked": (
        "facts",
        "(= v (along c)) (= w (along x)))\n      ((set (along e) (| v w)))",
        "(= v (along c)) (= w (along x)))\n      ((set (along e) w))",
    ),
    "element-select": (
        "facts",
        "(= e (Sel c x y)) (= t (element x))",
        "(= e (Sel c x y)) (= t (element c))",
    ),
    "bounds-type": ("facts", "(set (most x) hi))", "(set (most x) 1))"),
    "bounds-cast": ("facts", "(= u (element x)) (Exact u t) (= lo", "(= u (element x)) (= lo"),
    **{
        f"along-{what}": ("facts", f'{old} :ruleset facts :name "along-{what}"', new)
        for what, old, new in (
            (
                "cast",
                "((set (along e) v))",
                '((set (along e) 0)) :ruleset facts :name "along-cast"',
            ),
            (
                "unary",
                "((set (along e) v))",
                '((set (along e) 0)) :ruleset facts :name "along-unary"',
            ),
            (
                "call",
                "((set (along e) v))",
                '((set (along e) 0)) :ruleset facts :name "along-call"',
            ),
            (
                "bits",
                "((set (along e) v))",
                '((set (along e) 0)) :ruleset facts :name "along-bits"',
            ),
            ("binary", "(| v w)))", 'v)) :ruleset facts :name "along-binary"'),
            ("select", "(| u (| v w))))", '(| v w))) :ruleset facts :name "along-select"'),
        )
    },
    **{
        f"element-{what}": (
            "facts",
            f'((set (element e) {word})) :ruleset facts :name "element-{what}"',
            f'((set (element e) "i8")) :ruleset facts :name "element-{what}"',
        )
        for what, word in (
            ("band", "u"),
            ("bits", "t"),
            ("call", "t"),
            ("cast", "t"),
            ("difference", "t"),
            ("masked", "t"),
            ("product", "t"),
            ("reduce", "t"),
            ("sum", "t"),
            ("unary", "t"),
        )
    },
    "factor": ("application", "((Factor x u x))", "((Factor x u y))"),
    "multiply-commutes": ("axioms", '(Bin "*" x y) (Bin "*" y x)', '(Bin "*" x y) (Bin "*" y y)'),
    "accumulate": ("lowering", "((Candidate s e c m a b))", "((Candidate s e p m a b))"),
    "lowering": (
        "lowering",
        'm a b)) :ruleset lowering :name "i32',
        'm b a)) :ruleset lowering :name "i32',
    ),
    "lowering-types": ("lowering", '(= "i8" (element a))', ""),
}


def broken(name: str) -> tuple[str, dict[str, str]]:
    """The name of the rule that a mutation is in, and all rules with it."""
    file, old, new = MUTATIONS[name]
    all_ = texts()
    _, found, after = all_[file].partition(old)
    assert found, "the mutation no longer applies"
    (rule,) = re.findall(r'^.*?:name "([^"]+)"', found + after, re.DOTALL)
    return rule, {**all_, file: all_[file].replace(old, new)}


def test_every_rule_is_broken() -> None:
    names = set(re.findall(r':name "([^"]+)"', "".join(rules_text(n) for n in RULES)))
    assert names <= {broken(name)[0] for name in MUTATIONS}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_rule_is_caught(name: str) -> None:
    """The check above can fail: with any of these rules broken, it does."""
    rule, rules = broken(name)
    _, fired = checked()
    near = {seed % SHAPES for seed, one in fired.items() if one[rule]}
    seeds = sorted(
        range(TRIALS), key=lambda seed: (not fired[seed][rule], seed % SHAPES not in near, seed)
    )
    wrong, _ = check(seeds, rules, patient=False)
    assert wrong
