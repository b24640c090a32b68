"""Solves the sketches of samples/sketches, and sketches given as text, in this process."""

from __future__ import annotations

from pathlib import Path

from hbc.cli.read_sketch import importer, read_sketch
from hbc.frontend.sf_elaborate import load_sketch
from hbc.ir.sketch import Sketch
from hbc.ir.source import Source
from hbc.synth.solve import Outcome, solve
from hbc.synth.switches import Switches
from hbc.synth.watch import Watch

SKETCHES = Path(__file__).parents[2] / "samples" / "sketches"


def sample(name: str, **settings: int | str) -> Outcome:
    """A sample solved with some parameters set."""
    texts = {key: str(value) for key, value in settings.items()}
    return solve(read_sketch(SKETCHES / f"{name}.sf", texts), Switches(), Watch())


def read_text(text: str) -> Sketch:
    """The sketch of a text that imports what lies beside the samples, or comes with hbc."""

    return load_sketch(Source("test.sf", text), {}, importer(SKETCHES))


def solve_text(text: str, switches: Switches | None = None) -> Outcome:
    return solve(read_text(text), switches or Switches(), Watch())
