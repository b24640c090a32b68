"""Solves the sketches of samples/sketches, and sketches given as text, in this process."""

from __future__ import annotations

from pathlib import Path

from hbc.cli.files.read_sketch import importer, read_sketch
from hbc.frontend.sketch.elaborate import load_sketch
from hbc.ir.ground.source import Source
from hbc.ir.moves.sketch import Sketch
from hbc.synth.prunings.problem import Move
from hbc.synth.prunings.watch import Watch
from hbc.synth.results.solve import Outcome, solve
from hbc.synth.search.switches import Switches

SKETCHES = Path(__file__).parents[3] / "samples" / "sketches"


def sample(name: str, **settings: int | str) -> Outcome:
    """A sample solved with some parameters set."""
    texts = {key: str(value) for key, value in settings.items()}
    return solve(read_sketch(SKETCHES / f"{name}.sf", texts), Switches(), Watch())


def read_text(text: str) -> Sketch:
    """The sketch of a text that imports what lies beside the samples, or comes with hbc."""

    return load_sketch(Source("test.sf", text), {}, importer(SKETCHES))


def rows_of_set(
    name: str, shape: tuple[int, ...], made: tuple[int, ...], imported: str
) -> set[tuple[int, ...]]:
    """What every gather of a set reads, for one array of a shape; `name` has the set's options."""
    wanted = ", ".join(f"i{d} in {n}" for d, n in enumerate(made))
    text = f"""
        import "{imported}"
        x: {list(shape)}
        y: {list(made)} = ?{name}(x)
        goal y == [{wanted}] _
    """
    outcome = solve_text(text, Switches(classes=False, copies=False, crowds=False))
    (hole,) = outcome.problem.holes
    node = outcome.problem.nodes[hole]
    assert isinstance(node, Move)
    return {tuple(node.gathers.gather(k).index.tolist()) for k in range(node.gathers.size)}


def solve_text(text: str, switches: Switches | None = None) -> Outcome:
    return solve(read_text(text), switches or Switches(), Watch())
