"""Numbers of which a thread needs several digits have names in the text of a kernel."""

from __future__ import annotations

from hbc.codegen.cuda.digits import with_digits
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.show import show

COPY = """
for yx_o from 0 count 9 {
    threads yx_t from 0 count 128 {
        s[128 * yx_o + yx_t] = a.f32[(128 * yx_o + yx_t) / 66 * n + (128 * yx_o + yx_t) % 66]
    }
}
"""


def test_copies() -> None:
    shown = show(with_digits(read_stmt(COPY)))
    assert "let yx = " in shown
    assert "yx / 66" in shown
    assert "yx % 66" in shown
    assert "% 66" not in shown.replace("yx % 66", "")


def test_taken_names() -> None:
    """Where the name means something else, and where one digit is all that is needed, nothing changes."""
    for text in (COPY.replace(" n ", " yx "), COPY.replace("/ 66", "* 66")):
        s = read_stmt(text)
        assert with_digits(s) == s
