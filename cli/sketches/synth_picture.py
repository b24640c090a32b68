"""Draws a solution stage by stage: every array with its elements in the colours of what they hold.

A symbol has one colour in all arrays, so that data can be followed by eye; a fold shows the colours of all
that it has gathered. The first axis runs down, the others to the right; of four, two make a grid of blocks.
An array that only has the elements of the one before, in their order, is named beside it and not drawn again.
"""

from __future__ import annotations

import colorsys
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.cli.sketches.drawing import WHITE, Arrow, Box, Colour, Drawing, Words
from hbc.ir.moves.gather import Shape
from hbc.ir.moves.sketch import NO_TERM, SYMBOL, ZERO_TERM, Terms
from hbc.synth.prunings.problem import Problem
from hbc.synth.results.check import run_exactly
from hbc.synth.results.placement import lane_axes
from hbc.synth.results.solve import Outcome, Solution

CELL = 22.0
STRIPE = 7.0  # of a fold, at least, unless its cell grows wider than WIDEST_CELL
WIDEST_CELL = 84.0
GAP = 6.0  # between blocks of an array
MARGIN = 24.0
BETWEEN = 44.0  # arrays, with an arrow
LINE = 13.0  # of a caption
HEADING = 21.0  # above the captions of an array
WIDEST = 1700.0  # of a row of arrays
LONGEST_LINE = 48  # letters of a caption, unless the array is wider
MOST_STRIPES = 24
TALLEST = 32  # cells of an array of one dimension
NOTHING: Colour = (235, 235, 235)
LETTERS = 0.62  # of the font's size is the width of a letter
SMALL = 9.0  # size of the letters in a cell
# Saturation and lightness of the symbols of the first, second, ... array.
TONES = ((0.80, 0.72), (0.45, 0.55), (0.55, 0.88), (0.90, 0.45))
PARTS = re.compile(r"\d+|\D+")

Places = NDArray[np.floating]


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One array: terms by location, and how it was made: by which gather, and which instructions, at what
    cost. `axes`: what each index counts. `same`: arrays of the same elements in the same order."""

    name: str
    shape: Shape
    cells: Sequence[int]
    formula: str
    width: float  # of a cell
    reads: tuple[str, ...]  # the arrays that it is made of
    axes: tuple[str, ...]
    cost: str = ""
    same: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # of those


def draw_solution(
    outcome: Outcome, solution: Solution, lines: Mapping[str, str],
    costs: Mapping[str, str] | None = None,
) -> Drawing:  # fmt: skip
    """`lines`: for the name of each array, how it is made; `costs`: by what instructions."""
    problem = outcome.problem
    terms, values = run_exactly(problem, outcome.chosen(solution))
    colours = symbol_colours(terms)
    drawing = Drawing()
    left, top, deepest = MARGIN, MARGIN, 0.0
    last: Stage | None = None
    for stage in merged(stages(problem, terms, values, lines, costs or {})):
        width, height = extent(stage)
        if left > MARGIN and left + width > WIDEST:
            left, top, deepest = MARGIN, top + deepest + BETWEEN, 0.0
        if left > MARGIN and last is not None and follows(stage, last):
            middle = top + above(stage) + CELL / 2
            drawing.items.append(Arrow(left - BETWEEN * 3 / 4, middle, BETWEEN / 2))
        draw_stage(drawing, stage, left, top, terms, colours)
        drawing.width = max(drawing.width, left + width + MARGIN)
        left += width + BETWEEN
        last = stage
        deepest = max(deepest, height)
    drawing.height = top + deepest + MARGIN
    return drawing


def stages(
    problem: Problem, terms: Terms, values: Sequence[NDArray[np.int32]], lines: Mapping[str, str],
    costs: Mapping[str, str],
) -> list[Stage]:  # fmt: skip
    """The arrays that the sketch names itself."""
    named: list[Stage] = []
    lanes = lane_axes(problem.sketch.constants)
    for node, held in zip(problem.nodes, values, strict=False):
        if "." not in node.name:
            most = max(len(leaves(terms, int(number))) for number in np.unique(held))
            letters = max(len(terms.show(int(n))) if most == 1 else 0 for n in np.unique(held))
            width = min(WIDEST_CELL, max(CELL, STRIPE * most, LETTERS * SMALL * letters + 4))
            formula = lines.get(node.name, "")
            named.append(
                Stage(
                    node.name, node.shape, [int(n) for n in held], formula, width,
                    tuple(problem.nodes[a].name for a in node.arguments),
                    axis_names(len(node.shape), lanes if node.arguments else None),
                    costs.get(node.name, ""),
                )
            )  # fmt: skip
    return named


def merged(named: Sequence[Stage]) -> list[Stage]:
    """Without those that hold what the one before holds. Inputs take the shape in which they are read, what
    is made keeps its own."""
    drawn: list[Stage] = []
    for stage in named:
        last = drawn[-1] if drawn else None
        if last is None or last.cells != stage.cells or not follows(stage, last):
            drawn.append(stage)
            continue
        if last.reads:
            drawn[-1] = replace(
                last, same=(*last.same, title(stage)), names=(*last.names, stage.name)
            )
        else:
            same, names = (title(last), *last.same), (last.name, *last.names)
            drawn[-1] = replace(stage, same=same, names=names, reads=(), formula="", cost="")
    return drawn


def follows(stage: Stage, last: Stage) -> bool:
    """Whether it is made of the last one."""
    return any(name in (last.name, *last.names) for name in stage.reads)


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
    words = max(8.4 * len(title(stage)), *(5.6 * len(line) for line in captions(stage)), 0.0)
    return max(float(x.max()) + stage.width, words), float(y.max()) + CELL + above(stage)


def title(stage: Stage) -> str:
    return f"{stage.name}: [{', '.join(map(str, stage.shape))}]"


def captions(stage: Stage) -> list[str]:
    """The lines between an array's title and its elements, whole."""
    x, _ = corners(stage.shape, stage.width)
    room = max(LONGEST_LINE, int((float(x.max()) + stage.width) / 5.6))
    told = [f"the same elements: {', '.join(stage.same)}"] if stage.same else []
    said = [stage.formula, stage.cost, *told, directions(stage)]
    return [line for text in said for line in textwrap.wrap(text, room)]


def axis_names(rank: int, lanes: int | None) -> tuple[str, ...]:
    """What the indices of an array count: lanes and registers, as `synth/results/placement.py` has them; of
    an array in memory (no `lanes`) indices."""
    if lanes is None:
        kinds = ["index"] * rank
    else:
        here = range(lanes) if lanes > 0 else range(rank - 1, rank)
        kinds = ["lane" if axis in here else "register" for axis in range(rank)]
    return tuple(
        kind if kinds.count(kind) == 1 else f"{kind} {kinds[:axis].count(kind)}"
        for axis, kind in enumerate(kinds)
    )


def directions(stage: Stage) -> str:
    """Which index runs where."""
    match stage.axes:
        case ():
            return ""
        case (down,):
            return f"{down} down{', then across' if stage.shape[0] > TALLEST else ''}"
        case (down, across):
            return f"{down} down, {across} across"
        case (down, blocks, across):
            return f"{down} down, {blocks} across blocks, {across} across within"
        case (*first, blocks, down, across):
            grid = f"{', '.join(first)} down blocks, {blocks} across blocks"
            return f"{grid}, {down} down, {across} across within"
    raise AssertionError(stage.axes)


def above(stage: Stage) -> float:
    """Height of what stands over the elements."""
    return HEADING + LINE * len(captions(stage))


def draw_stage(
    drawing: Drawing, stage: Stage, left: float, top: float, terms: Terms,
    colours: Mapping[int, Colour],
) -> None:  # fmt: skip
    """The heading and the cells of one array."""
    drawing.items.append(Words(left, top + 6, title(stage), 12, centred=False, bold=True))
    for number, line in enumerate(captions(stage)):
        drawing.items.append(Words(left, top + HEADING + LINE * number, line, 9, centred=False))
    across, down = corners(stage.shape, stage.width)
    for location, number in enumerate(stage.cells):
        x, y = left + float(across[location]), top + above(stage) + float(down[location])
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
        size = min(SMALL, (cell.width - 2) / (LETTERS * max(1, len(text))))
        middle = (cell.x + cell.width / 2, cell.y + cell.height / 2)
        drawing.items.append(Words(*middle, text, round(size, 2)))
