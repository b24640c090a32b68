"""Parts of the page by themselves: assembly that is read, lines that are linked, labels of the roof."""

from __future__ import annotations

from itertools import pairwise

from hbc.cli.page.assembly import read_listing
from hbc.cli.page.colour import coloured
from hbc.cli.page.links import core, of_code
from hbc.cli.page.roof import Picture, _drawn
from hbc.cli.roof.roofs import Roofs
from hbc.cli.runs.work import Work

GCC = """\t.file\t"k.c"
\t.intel_syntax noprefix
\t.text
.Ltext0:
\t.file 0 "/tmp/x" "k.c"
\t.type\tk, @function
k:
.LFB1:
\t.file 1 "k.c"
\t.loc 1 3 1 view -0
\t.cfi_startproc
\ttest\tedi, edi
\tje\t.L2
\t.loc 2 90 5
\tadd\teax, 1
.L2:
\t.loc 1 5 1
\tret
\t.section\t.rodata
.LC0:
\t.long\t5
"""


def test_assembly_has_its_lines_and_the_labels_that_are_named() -> None:
    assert read_listing(GCC, "k.c") == [
        ("k:", None), ("        test    edi, edi", 3), ("        je      .L2", 3),
        ("        add     eax, 1", None), (".L2:", None), ("        ret", 5),
    ]  # fmt: skip


def test_what_does_not_compute_is_folded() -> None:
    code = ["#include <a.h>", "", "int f(void)", "{", "    return 1;", "}", "", "int k(int n)", "{",
            "    // O.parallel(y)", "    for (;;) {", "", "    }", "}", "",
            "int g(void)", "{", "}"]  # fmt: skip
    linked = of_code(code, {("", "O", "parallel(y)"): 7})
    assert [line.number for line in linked if line.schedule == 7] == [10, 11]
    assert core(code, linked) == (7, 14)
    assert core(code, of_code(code, {})) == (0, len(code))


def test_lines_of_colours_are_the_lines_of_the_text() -> None:
    text = '# "a\nO[x] = select(I[x] < 0, "&", \'x\')\n\n\x1b .split(x) f32\n'
    for language in ("hb", "c", "cuda", "asm"):
        lines = coloured(text, language)
        assert len(lines) == 4
        assert "\x1b" not in "".join(lines)
        assert "< 0" not in "".join(lines)


def test_labels_of_the_roof_do_not_lie_on_each_other() -> None:
    roofs = Roofs(
        1, {"f32": 1e11}, {"L1": 4e11, "L2": 5.1e10, "L3": 5e10, "DRAM": 4.9e10}, {"L1": 1 << 15}
    )
    picture = _drawn(Work({"f32": 1 << 30}, 1 << 24, True), roofs)
    assert isinstance(picture, Picture)
    at = [slope.label.y for slope in picture.slopes]
    assert all(b - a >= 11 for a, b in pairwise(at))
    assert all(0 < slope.x1 <= slope.x2 and slope.y2 <= slope.y1 for slope in picture.slopes)
    assert "Arithmetic is the limit" in picture.said
    assert "10.7 ms" in picture.said
