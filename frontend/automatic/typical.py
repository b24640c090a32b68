"""Sizes that a kernel is likely to be called with: those that are set, else those of its example."""

from __future__ import annotations

from collections.abc import Mapping

from hbc.frontend.program.funcs import Pipeline

USUAL = 512  # where an example takes a size from a file, or there is none


def typical_sizes(p: Pipeline, given: Mapping[str, str]) -> dict[str, int]:
    """A number for each size. It decides what is fast, never what is right."""
    example = dict(p.examples[0].sizes) if p.examples else {}
    sizes = {}
    for size in p.sizes:
        text = given.get(size.name, "")
        if size.fixed is not None:
            sizes[size.name] = size.fixed
        elif text.isdecimal():
            sizes[size.name] = int(text)
        else:
            sizes[size.name] = max(example.get(size.name, USUAL), 1)
    return sizes
