"""Proofs to be checked and forged, and what the lines of one really state, by plain enumeration.

The enumeration shares nothing with search and checker: terms are strings and tuples, values lists.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

from hbc.cli.files.read_sketch import importer, read_sketch
from hbc.cli.proofs.check import check_proof
from hbc.cli.sketches.proof import sketch_proof, written
from hbc.frontend.sketch.elaborate import load_sketch
from hbc.ir.ground.source import Source
from hbc.ir.moves.sketch import Sketch
from hbc.synth.prunings.watch import Watch
from hbc.synth.results.cost import make_pricing
from hbc.synth.results.cost_table import DEFAULT, cost_table
from hbc.synth.results.solve import solve
from hbc.synth.search.switches import Switches

SKETCHES = Path(__file__).parents[3] / "samples" / "sketches"

# Two holes, six gathers each: all choices are quickly tried.
SMALL = """
set turns(a: [4]) -> [4] = \\i. a[(i + c) % 4] for c in 4 | table [[1, 0, 3, 2], [0, 0, 2, zero]]
x: [4]
y: [4] = ?turns(x)
z: [4] = ?turns(y)
s: [2] = fold(+){length=2}(z)
goal s == [i in 2] fold(+) [x[2 * i], x[(2 * i + 3) % 4]]
"""
NONE = SMALL.replace("(2 * i + 3) % 4", "2 * i")


def proof_of(sketch: Sketch) -> str:
    outcome = solve(sketch, Switches(), Watch())
    target = str(sketch.constants.get("target", DEFAULT))
    pricing = make_pricing(outcome.problem, cost_table(target))
    lines, missing = sketch_proof(outcome, pricing, {}, lambda: None)
    assert not missing
    return written(lines)


def sample_proof(name: str, **settings: int | str) -> str:
    texts = {key: str(value) for key, value in settings.items()}
    return proof_of(read_sketch(SKETCHES / f"{name}.sf", texts))


def text_proof(text: str) -> str:
    return proof_of(load_sketch(Source("small.sf", text), {}, importer(SKETCHES)))


def verdict(text: str) -> tuple[list[str], list[str]]:
    """The claims of a proof that is accepted, and what is said of them."""
    found = check_proof(text.split("\n")[:-1])
    return found.claims, found.facts


def lines_of(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n")[:-1]]


def text_of(lines: list[Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def holds(lines: list[Any]) -> bool:
    """Whether what a proof claims of sketches is true, whatever it says in its favour."""
    head = lines[0]
    terms: list[Any] = ["0", None]
    for t in next(line["terms"] for line in lines if "terms" in line):
        terms.append(
            t if isinstance(t, str) else (t[0], tuple(sorted((terms[e] for e in t[1]), key=repr)))
        )
    sets = [line for line in lines if "set" in line]
    arrays = [line for line in lines if "array" in line]
    goals = [line for line in lines if "goal" in line]
    open_ = [n for n, line in enumerate(arrays) if line.get("hole") is True]

    def meets(choice: tuple[int, ...]) -> bool:
        chosen = dict(zip(open_, choice, strict=True))
        values: list[list[Any]] = []
        for n, line in enumerate(arrays):
            if "holds" in line:
                values.append([terms[t] for t in line["holds"]])
                continue
            inputs = [v for a in line["of"] for v in values[a]]
            if "fold" in line:
                size = line["length"]
                groups = [inputs[k : k + size] for k in range(0, len(inputs), size)]
                values.append([folded(line["fold"], group) for group in groups])
            else:
                given = sets[line["of_set"]]
                code = given["gathers"][chosen.get(n, 0)]
                where = [s[code[c]] for s, c in zip(given["source"], given["cell"], strict=True)]
                values.append([None if w == -2 else "0" if w == -1 else inputs[w] for w in where])
        return all(
            w == -1 or values[g["goal"]][k] == terms[w]
            for g in goals
            for k, w in enumerate(g["holds"])
        )

    sizes = [range(len(sets[arrays[n]["of_set"]]["gathers"])) for n in open_]
    true = {choice for choice in product(*sizes) if meets(choice)}
    listed = [tuple(line["solution"]) for line in lines if "solution" in line]
    if head["claims"] == ["none"]:
        return not true
    right = bool(listed) and set(listed) <= true
    return right and (head["claims"] == ["computes"] or len(true) == head["solutions"])


def folded(operation: str, group: list[Any]) -> Any:
    kept = [v for v in group if v != "0"]
    if None in kept:
        return None
    return (operation, tuple(sorted(kept, key=repr))) if kept else "0"
