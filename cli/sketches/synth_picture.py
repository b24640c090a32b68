"""Draws a solution stage by stage: every array with its elements in the colours of what they hold.

A symbol has one colour in all arrays, so that data can be followed by eye; a fold shows the colours of all
that it has gathered. The first axis runs down, the others to the right; of four, two make a grid of blocks.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.cli.sketches.drawing import WHITE, Box, Colour, Drawing, Words
from hbc.ir.moves.gather import Shape
from hbc.ir.moves.sketch import NO_TERM, SYMBOL, ZERO_TERM, Terms
from hbc.synth.prunings.problem import Problem
from hbc.synth.results.check import run_exactly
from hbc.synth.results.solve import Outcome, Solution

CELL = 22.0
STRIPE = 7.0  # of a fold, at least, unless its cell grows wider than WIDEST_CELL
WIDEST_CELL = 84.0
GAP = 6.0  # between blocks of an array
MARGIN = 24.0
BETWEEN = 30.0  # arrays
HEADING = 34.0  # the lines above an array
WIDEST = 1700.0  # of a row of arrays
LONGEST_FORMULA = 60
MOST_STRIPES = 24
TALLEST = 32  # cells of an array of one dimension
NOTHING: Colour = (235, 235, 235)
LETTERS = 0.62  # of the font's size is the width of a letter
# Saturation and lightness of the symbols of the first, second, ... array.
TONES = ((0.80, 0.72), (0.45, 0.55), (0.55, 0.88), (0.90, 0.45))
PARTS = re.compile(r"\d+|\D+")

Places = NDArray[np.floating]


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One array: terms by location, and how it was made."""

    name: str
    shape: Shape
    cells: Sequence[int]
    formula: str
    width: float  # of a cell


def draw_solution(outcome: Outcome, solution: Solution, lines: Mapping[str, str]) -> Drawing:
    """`lines`: for the name of each array, how it is made."""
    problem = outcome.problem
    terms, values = run_exactly(problem, outcome.chosen(solution))
    colours = symbol_colours(terms)
    drawing = Drawing()
    left, top, deepest = MARGIN, MARGIN, 0.0
    for stage in stages(problem, terms, values, lines):
        width, height = extent(stage)
        if left > MARGIN and left + width > WIDEST:
            left, top, deepest = MARGIN, top + deepest + BETWEEN, 0.0
        draw_stage(drawing, stage, left, top, terms, colours)
        drawing.width = max(drawing.width, left + width + MARGIN)
        left += width + BETWEEN
        deepest = max(deepest, height)
    drawing.height = top + deepest + MARGIN
    return drawing


def stages(
    problem: Problem, terms: Terms, values: Sequence[NDArray[np.int32]], lines: Mapping[str, str]
) -> list[Stage]:
    """The arrays that the sketch names itself."""
    named: list[Stage] = []
    for node, held in zip(problem.nodes, values, strict=False):
        if "." not in node.name:
            most = max(len(leaves(terms, int(number))) for number in np.unique(held))
            width = min(WIDEST_CELL, max(CELL, STRIPE * most))
            formula = lines.get(node.name, "")
            named.append(Stage(node.name, node.shape, [int(n) for n in held], formula, width))
    return named


def symbol_colours(terms: Terms) -> dict[int, Colour]:
    """Hues run with the numbers of an array's symbols, tones tell the arrays apart."""
    families: dict[str, list[tuple[list[int], int]]] = {}
    for number in range(2, len(terms)):
        if terms[number].operation == SYMBOL:
            parts = PARTS.findall(terms[number].name)
            numbers = [int(part) for part in parts if part.isdigit()]
            families.setdefault(parts[0], []).append((numbers, number))
    colours: dict[int, Colour] = {}
    for place, family in enumerate(families.values()):
        saturation, lightness = TONES[place % len(TONES)]
        for rank, (_, number) in enumerate(sorted(family)):
            channels = colorsys.hls_to_rgb(rank / len(family) * 0.9, lightness, saturation)
            red, green, blue = (round(255 * channel) for channel in channels)
            colours[number] = (red, green, blue)
    return colours


def leaves(terms: Terms, number: int) -> list[int]:
    """The symbols that a term is made of, with repetitions."""
    if number in (ZERO_TERM, NO_TERM) or terms[number].operation == SYMBOL:
        return [number]
    return [leaf for element in terms[number].elements for leaf in leaves(terms, element)]


def corners(shape: Shape, width: float) -> tuple[Places, Places]:
    """x and y of the cell of every location, from the array's corner; cells are `width` wide."""
    location = np.arange(prod(shape))
    down = right = row = column = np.zeros_like(location)
    match shape:
        case ():
            pass
        case (_,):
            right, row = location // TALLEST, location % TALLEST
        case (_, _):
            row, column = np.unravel_index(location, shape)
        case (_, _, _):
            row, right, column = np.unravel_index(location, shape)
        case _:
            grid = (prod(shape[:-3]), *shape[-3:])
            down, right, row, column = np.unravel_index(location, grid)
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    x = right * (columns * width + GAP) + column * width
    y = down * (rows * CELL + GAP) + row * CELL
    return x, y


def extent(stage: Stage) -> tuple[float, float]:
    """Width and height, the heading included."""
    x, y = corners(stage.shape, stage.width)
    words = max(7.6 * len(heading(stage)), 5.0 * len(caption(stage)))
    return max(float(x.max()) + stage.width, words), float(y.max()) + CELL + HEADING


def heading(stage: Stage) -> str:
    return f"{stage.name}: [{', '.join(map(str, stage.shape))}]"


def caption(stage: Stage) -> str:
    text = stage.formula
    return text if len(text) <= LONGEST_FORMULA else text[: LONGEST_FORMULA - 1] + "…"


def draw_stage(
    drawing: Drawing, stage: Stage, left: float, top: float, terms: Terms,
    colours: Mapping[int, Colour],
) -> None:  # fmt: skip
    """The heading and the cells of one array."""
    drawing.items.append(Words(left, top + 6, heading(stage), 12, centred=False, bold=True))
    drawing.items.append(Words(left, top + 21, caption(stage), 9, centred=False))
    across, down = corners(stage.shape, stage.width)
    for location, number in enumerate(stage.cells):
        x, y = left + float(across[location]), top + HEADING + float(down[location])
        at = ", ".join(str(i) for i in np.unravel_index(location, stage.shape))
        name = f"{stage.name}[{at}]"
        cell = Box(x, y, stage.width, CELL, WHITE, outline=True)
        draw_cell(drawing, cell, name, number, terms, colours)


def draw_cell(
    drawing: Drawing, cell: Box, name: str, number: int, terms: Terms,
    colours: Mapping[int, Colour],
) -> None:  # fmt: skip
    """One element: a colour, or a stripe for each symbol that a fold has gathered."""
    shown = leaves(terms, number)[:MOST_STRIPES]
    title = f"{name} = {terms.show(number)}"
    width = cell.width / len(shown)
    for stripe, leaf in enumerate(shown):
        fill = WHITE if leaf == ZERO_TERM else NOTHING if leaf == NO_TERM else colours[leaf]
        place = name if len(shown) == 1 else f"{name}#{stripe}"
        x = cell.x + stripe * width
        drawing.items.append(Box(x, cell.y, width, cell.height, fill, title, place))
    drawing.items.append(cell)
    if len(shown) == 1 and number != NO_TERM:
        text = terms.show(leaves(terms, number)[0])
        size = min(9.0, (CELL - 2) / (LETTERS * max(1, len(text))))
        middle = (cell.x + cell.width / 2, cell.y + cell.height / 2)
        drawing.items.append(Words(*middle, text, round(size, 2)))
