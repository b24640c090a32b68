"""Pins what an example's `random` may ask for."""

from pathlib import Path

import pytest

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source


def filled(kind: str, fill: str) -> set[int]:
    text = f"size N\ninput A: {kind}[N]\noutput O: i64[N]\nO[x] = i64(A[x])\n"
    text += f"example {{ N = 999; A = {fill} }}\n"
    p = check(parse(Source(str(Path("k.hb")), text)), {})
    return set(gather_inputs(p, {}, choose_example(p, None), {}).inputs["A"].tolist())


def test_limits_within_the_type() -> None:
    assert filled("u8", "random(1, 250, 2000)") == set(range(250, 256))
    assert filled("i8", "random(1, -500, -127)") == {-128, -127}


@pytest.mark.parametrize(("kind", "fill"), [
    ("u8", "random(1, 1000, 2000)"), ("i8", "random(1, -300, -200)"), ("i4", "random(1, 10, 20)"),
    ("u4", "random(1, 16, 17)"),
])  # fmt: skip
def test_limits_beyond_the_type(kind: str, fill: str) -> None:
    with pytest.raises(HbcError) as caught:
        filled(kind, fill)
    assert caught.value.diagnostics[0].message == f"`A` holds no value that `{fill}` could give"
