"""Pictures of solutions: the SVG is parsed, and the colours must follow the gathers."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as xml
from math import prod
from pathlib import Path

import numpy as np
import pytest
from sketch_solver import SKETCHES, sample, solve_text

from hbc.cli.sketches.drawing import png, svg
from hbc.cli.sketches.synth_picture import draw_solution
from hbc.synth.prunings.problem import Move, Pack
from hbc.synth.results.solve import Outcome, Solution

NAMESPACE = "{http://www.w3.org/2000/svg}"


def fills(outcome: Outcome, solution: Solution) -> dict[str, list[str]]:
    """The colours of every element, by its name: `s1[0, 2]`."""
    root = xml.fromstring(svg(draw_solution(outcome, solution, {"s1": "a < b & c"})))
    found: dict[str, list[str]] = {}
    for box in root.iter(f"{NAMESPACE}rect"):
        place = box.get("data-place")
        if place is not None:
            title = box.find(f"{NAMESPACE}title")
            assert title is not None and title.text is not None
            assert title.text.startswith(place.partition("#")[0] + " = ")
            found.setdefault(place.partition("#")[0], []).append(str(box.get("fill")))
    return found


def place(name: str, shape: tuple[int, ...], location: int) -> str:
    return f"{name}[{', '.join(str(int(i)) for i in np.unravel_index(location, shape))}]"


@pytest.mark.parametrize(
    ("name", "settings"),
    [("crc", {"s": 3}), ("conv1d", {"k": 3}), ("stencil2d", {"k": 3}), ("ffm4", {}), ("hvx_gaussian", {})],
)  # fmt: skip
def test_colours_follow_the_gathers(name: str, settings: dict[str, int]) -> None:
    outcome = sample(name, **settings)
    solution = next(outcome.solutions())
    chosen = outcome.chosen(solution)
    colours = fills(outcome, solution)
    nodes = outcome.problem.nodes
    compared = 0
    for number, node in enumerate(nodes):
        names = [
            place(nodes[a].name, nodes[a].shape, location)
            for a in node.arguments for location in range(prod(nodes[a].shape))
        ]  # fmt: skip
        if "." in node.name or any(name not in colours for name in names):
            continue  # it or what it reads has no name in the sketch, or is the same once more
        if place(node.name, node.shape, 0) not in colours:
            continue
        if isinstance(node, Move):
            gather = chosen[number] if node.hole else node.gathers.gather(0)
            for location, source in enumerate(gather.index):
                here = colours[place(node.name, node.shape, location)]
                compared += 1
                assert here == (colours[names[source]] if source >= 0 else here)
                if source < 0:
                    assert here in (["#ffffff"], ["#ebebeb"])
        elif isinstance(node, Pack):
            for location in range(prod(node.shape)):
                here = colours[place(node.name, node.shape, location)]
                group = names[location * node.length : (location + 1) * node.length]
                held = [c for name in group for c in colours[name] if c != "#ffffff"]
                assert sorted(here) == sorted(held or ["#ffffff"])
    assert compared > 50


def test_symbols_of_an_array_differ() -> None:
    outcome = solve_text("""
        x: [16]
        w: [16]
        y: [16] = ?rots{main=0}(x)
        z: [16] = ?rots{main=0}(w)
        goal y == [i in 16] x[(i + 1) % 16]
        goal z == w
    """)
    colours = fills(outcome, next(outcome.solutions()))
    assert len({tuple(colours[f"{name}[{i}]"]) for name in "xw" for i in range(16)}) == 32


def test_stages_that_do_nothing_are_named_and_not_drawn() -> None:
    outcome = sample("transpose8")
    solution = next(outcome.solutions())
    long = "?instructions with " + ", ".join(f"b{n} = {n}" for n in range(40))
    costs = {"s1": "4 vshufps: 3 core cycles"}
    root = xml.fromstring(svg(draw_solution(outcome, solution, {"s2": long}, costs)))
    places = [
        str(b.get("data-place")) for b in root.iter(f"{NAMESPACE}rect") if b.get("data-place")
    ]
    assert {name.partition("[")[0] for name in places} == {"s0", "s1", "s2"}
    said = [str(t.text) for t in root.iter(f"{NAMESPACE}text")]
    assert {"the same elements: x: [8, 8]", "the same elements: made: [4, 16], out: [8, 8]"} <= {
        *said
    }
    assert "4 vshufps: 3 core cycles" in said
    assert len(list(root.iter(f"{NAMESPACE}polygon"))) == 2  # arrows
    assert "register down, lane across" in said
    assert long in " ".join(said)  # in several lines, whole
    widths = [float(t.get("x", 0)) + 5.6 * len(str(t.text)) for t in root.iter(f"{NAMESPACE}text")]
    assert max(widths) <= float(root.get("width", 0))


def test_elements_lie_apart() -> None:
    outcome = sample("stencil2d", k=3)
    drawing = draw_solution(outcome, next(outcome.solutions()), {})
    root = xml.fromstring(svg(drawing))
    cells = [
        (float(b.get("x", 0)), float(b.get("y", 0)), float(b.get("width", 0)), float(b.get("height", 0)))
        for b in root.iter(f"{NAMESPACE}rect") if b.get("stroke")
    ]  # fmt: skip
    assert len({(x, y) for x, y, _, _ in cells}) == len(cells)
    assert max(x + w for x, _, w, _ in cells) <= drawing.width
    assert max(y + h for _, y, _, h in cells) <= drawing.height


def test_png_has_the_size_of_the_drawing() -> None:
    from io import BytesIO

    from PIL import Image

    outcome = sample("ffm4")
    drawing = draw_solution(outcome, next(outcome.solutions()), {})
    with Image.open(BytesIO(png(drawing))) as image:
        assert image.size == (round(drawing.width * 2), round(drawing.height * 2))
        assert len(image.convert("RGB").reduce(8).getcolors(100_000) or ()) > 20


def test_command_writes_a_picture(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "hbc.cli.main",
        "synth",
        str(SKETCHES / "ffm4.sf"),
        "--picture",
    ]
    for suffix, start in ((".svg", b"<svg"), (".png", b"\x89PNG")):
        file = tmp_path / f"out{suffix}"
        subprocess.run([*command, str(file)], check=True, capture_output=True)
        assert file.read_bytes().startswith(start)
    done = subprocess.run([*command, "out.gif"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "name a file that ends in .svg or .png" in done.stderr
