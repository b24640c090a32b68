"""The page of `--emit html`: it parses, says what the texts say, and links schedule, C and assembly."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from hbc.cli.main import exit_code_of

Command = Callable[..., Any]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

SOURCE = """size   W
input  I: f32[W]
output O: f32[W]
O[x] = select(I[x] < 0, 0, I[x]) # "<&>" </script><b>
schedule fast for c, avx2, avx512 {
    O.split(x, xo, xi, 64)
     .vectorize(xi, 8)
     .parallel(xo)
}
example { W = 100; I = random(1, -1, 1) }
"""


class Lines(HTMLParser):
    """By part of the page, the texts of its lines, with the lines of the schedule and of the C that they
    belong to."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: dict[str, list[tuple[str, str | None, str | None]]] = {}
        self.at = ""
        self.depth = 0
        self.number = False
        self.rows: list[list[str]] = []
        self.script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        kinds = (attributes.get("class") or "").split()
        if tag == "section" and "source" in kinds:
            self.at = "source"
        if "tab" in kinds:
            self.at = str(attributes["id"])
        if "pass" in kinds:
            self.at = f"after {attributes['data-pass']}"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.script = tag in ("script", "style")
        if tag == "span" and "line" in kinds:
            line = ("", attributes.get("data-s"), attributes.get("data-c"))
            self.parts.setdefault(self.at, []).append(line)
            self.depth = 1
        elif tag == "span" and self.depth:
            self.depth += 1
            self.number = "number" in kinds

    def handle_endtag(self, tag: str) -> None:
        if tag == "span" and self.depth:
            self.depth -= 1
            self.number = False

    def handle_data(self, data: str) -> None:
        if self.depth and not self.number:
            text, s, c = self.parts[self.at][-1]
            self.parts[self.at][-1] = (text + data, s, c)
        elif self.rows and self.rows[-1] and not self.script:
            self.rows[-1][-1] += data.strip()

    def text(self, part: str) -> str:
        return "\n".join(line for line, _, _ in self.parts[part]) + "\n"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the page and the C of a small kernel."""
    folder = tmp_path_factory.mktemp("page")
    kernel = folder / "relu.hb"
    kernel.write_text(SOURCE, encoding="utf-8")
    arguments = ["compile", str(kernel), "--target", "c", "-o", str(folder)]
    assert exit_code_of([*arguments, "--emit", "html", "--emit", "c"]) == 0
    return folder


def _read(folder: Path) -> tuple[str, Lines]:
    text = (folder / "relu.html").read_text(encoding="utf-8")
    parsed = Lines()
    parsed.feed(text)
    return text, parsed


def test_the_texts_are_whole(written: Path) -> None:
    text, page = _read(written)
    assert page.text("source") == SOURCE
    assert page.text("tab-code") == (written / "relu.c").read_text(encoding="utf-8")
    assert page.text("tab-loops").startswith("kernel relu, schedule fast")
    assert page.text("after lower").startswith("kernel relu\n")
    assert not re.search(r'(src|href)="', text), "the page needs nothing beside itself"
    assert "</script><b>" not in text


def test_lines_are_linked(written: Path) -> None:
    _, page = _read(written)
    source = {s: line.strip() for line, s, _ in page.parts["source"] if s}
    assert source.keys() == {"6", "7", "8"}
    made = [(line.strip(), s) for line, s, _ in page.parts["tab-code"] if s]
    assert ("// O.parallel(xo)", "8") in made
    assert any(line.startswith("for (") and s == "8" for line, s in made)
    code = page.text("tab-code").split("\n")
    inside = [n for n, line in enumerate(code, 1) if "O[" in line or "I[" in line]
    of_instructions = {int(c) for _, _, c in page.parts["tab-assembly"] if c}
    assert of_instructions & set(inside), "instructions come from lines that compute"


def test_loops_have_their_numbers(written: Path) -> None:
    """100 elements in pieces of 64: one whole, each element loaded, compared, chosen and stored once."""
    _, page = _read(written)
    loops = {row[0]: row[1:-1] for row in page.rows if row[0] != "loop"}
    whole = [
        "64",
        "128",
        "64",
        "64",
        "512",
        "64",
    ]  # iterations, arithmetic, loads, stores, bytes, cycles
    assert loops["xi_v in 8"] == whole
    assert loops["parallel xo in W / 64"] == ["1", *whole[1:]]


def test_pages_without_some_parts(hbc: Command, tmp_path: Path) -> None:
    """A kernel for a GPU has no assembly and no roof here; a file without an example has no numbers."""
    kernel = tmp_path / "twice.hb"
    text = "size W\ninput I: f32[W]\noutput O: f32[W]\nO[x] = I[x] * 2\n"
    kernel.write_text(text, encoding="utf-8")
    for target, missing in (("cuda", "Of CUDA there is none here"), ("c", "no example with sizes")):
        done = hbc("compile", kernel, "--target", target, "-o", tmp_path, "--emit", "html")
        assert done.code == 0, done.err
        page = (tmp_path / "twice.html").read_text(encoding="utf-8")
        parsed = Lines()
        parsed.feed(page)
        shown = parsed.text("source")
        assert shown.startswith(text)
        assert "Made by hbc" in page and f"schedule auto_{target} for {target}" in shown
        assert missing in page


def test_schedules_that_were_not_chosen_are_folded(hbc: Command, tmp_path: Path) -> None:
    """With the comments above them, and named; all lines are there, in their order."""
    kernel = tmp_path / "relu.hb"
    other = "# For others.\nschedule other for c {\n    O.vectorize(x, 4)\n    O.unroll(x, 2)\n}\n"
    text = SOURCE.replace("example", f"{other}\nexample")
    kernel.write_text(text, encoding="utf-8")
    for name, folded in (("fast", "other for c"), ("other", "fast for c, avx2, avx512")):
        arguments = ("--target", "c", "--schedule", name, "-o", tmp_path, "--emit", "html")
        assert hbc("compile", kernel, *arguments).code == 0
        page = (tmp_path / "relu.html").read_text(encoding="utf-8")
        parsed = Lines()
        parsed.feed(page)
        assert parsed.text("source") == text
        left = page[page.index('class="source"') : page.index('class="made"')]
        inside = re.findall(r"<details><summary>(.*?)</summary>(.*?)</details>", left, re.DOTALL)
        assert [said for said, _ in inside] == [f"schedule {folded}: not used here"]
        assert ("For others." in inside[0][1]) == (name == "fast")
        assert "data-s" not in inside[0][1]


def test_a_schedule_that_hbc_made_is_shown_and_linked(hbc: Command, tmp_path: Path) -> None:
    kernel = tmp_path / "relu.hb"
    text = SOURCE[: SOURCE.index("schedule")] + SOURCE[SOURCE.index("example") :]
    kernel.write_text(text, encoding="utf-8")
    made = _shown(hbc, kernel).text("source")[len(text) :]
    assert made.startswith("schedule auto_avx2 for avx2 {\n    O.")
    parsed = _shown(hbc, kernel, "--write")
    assert made in kernel.read_text(encoding="utf-8"), "as --write puts it into the file"
    assert parsed.text("source") == kernel.read_text(encoding="utf-8"), "and then of the file"
    directives = {s for line, s, _ in parsed.parts["source"] if s and line.startswith("    O.")}
    assert directives & {s for _, s, _ in parsed.parts["tab-code"] if s}


def _shown(hbc: Command, kernel: Path, *options: str) -> Lines:
    """The page of a kernel for AVX2."""
    folder = kernel.parent
    done = hbc("compile", kernel, "--target", "avx2", "-o", folder, "--emit", "html", *options)
    assert done.code == 0, done.err
    parsed = Lines()
    parsed.feed(kernel.with_suffix(".html").read_text(encoding="utf-8"))
    return parsed


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("tab", ["code", "loops", "assembly", "ir", "roof"])
def test_a_browser_shows_the_tab(written: Path, tab: str) -> None:
    """Its script runs without a mistake up to its last line, which this asks for."""
    page = written / "asked.html"
    asked = (
        "<script>document.title = document.querySelectorAll('.tab:not([hidden])').length</script>"
    )
    text = (written / "relu.html").read_text(encoding="utf-8")
    page.write_text(text.replace("</body>", f"{asked}</body>"), encoding="utf-8")
    assert CHROMIUM is not None
    browser = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=700,800"]
    done = subprocess.run(
        [*browser, "--dump-dom", f"{page.as_uri()}#{tab}"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "<title>1</title>" in done.stdout, done.stderr
    shown = re.findall(r'<div class="tab" id="tab-(\w+)">', done.stdout)
    assert shown == [tab]
    assert re.findall(r'data-tab="(\w+)" aria-selected="true"', done.stdout) == [tab]
