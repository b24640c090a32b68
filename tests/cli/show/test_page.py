"""The page of `--emit html`: it parses, says what the texts say, and links schedule and C."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from hbc.cli.show.page import page

Command = Callable[..., Any]

SOURCE = """size   W
input  I: f32[W]
output O: f32[W]
O[x] = select(I[x] < 0, 0, I[x]) # "<&>"
schedule fast for c, avx2, avx512 {
    O.split(x, xo, xi, 64)
     .vectorize(xi, 8)
     .parallel(xo)
}
example { W = 100; I = random(1, -1, 1) }
"""


class Lines(HTMLParser):
    """The text of each line of each section, and what it is linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[list[tuple[str, str | None]]] = []
        self.depth = 0
        self.number = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "section":
            self.sections.append([])
        elif tag == "span" and "line" in (attributes.get("class") or "").split():
            self.sections[-1].append(("", attributes.get("data-from")))
            self.depth = 1
        elif tag == "span" and self.depth:
            self.depth += 1
            self.number = attributes.get("class") == "number"

    def handle_endtag(self, tag: str) -> None:
        if tag == "span" and self.depth:
            self.depth -= 1
            self.number = False

    def handle_data(self, data: str) -> None:
        if self.depth and not self.number:
            text, origin = self.sections[-1][-1]
            self.sections[-1][-1] = (text + data, origin)


def test_page(hbc: Command, tmp_path: Path) -> None:
    kernel = tmp_path / "relu.hb"
    kernel.write_text(SOURCE, encoding="utf-8")
    done = hbc("compile", kernel, "--target", "c", "-o", tmp_path, "--emit", "html", "--emit", "c")
    assert done.code == 0, done.err
    text = (tmp_path / "relu.html").read_text(encoding="utf-8")
    parsed = Lines()
    parsed.feed(text)
    source, loops, code = parsed.sections
    assert "\n".join(line for line, _ in source) + "\n" == SOURCE
    assert "\n".join(line for line, _ in code) + "\n" == (tmp_path / "relu.c").read_text()
    assert loops[0][0].startswith("kernel relu, schedule fast")
    marked = {int(origin): line for line, origin in source if origin is not None}
    assert marked.keys() == {6, 7, 8}
    made = {int(origin): line.strip() for line, origin in code if origin is not None}
    assert made[8] == "// O.parallel(xo)"
    assert marked[8].strip() == ".parallel(xo)"
    assert made.keys() <= marked.keys()
    assert not re.search(r'(src|href)="', text), "the page needs nothing beside itself"


def test_texts_are_escaped() -> None:
    text = page("<t>", "a < b & c", None, "</pre><script>", '"x" > y')
    assert "</pre><script>" not in text.split("<body>")[1].split("<script>")[0]
    parsed = Lines()
    parsed.feed(text)
    assert [[line for line, _ in part] for part in parsed.sections] == [
        ["a < b & c"], ["</pre><script>"], ['"x" > y'],
    ]  # fmt: skip
