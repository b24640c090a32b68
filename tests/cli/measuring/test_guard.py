"""What stands in the file does not keep a candidate from being read."""

from __future__ import annotations

from hbc.cli.measuring.guard import guarded
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

KERNEL = """\
size N
input  A: f32[N]
output B: f32[N]
B[i] = A[i] * 2
schedule tuned_c for c { B.parallel(i) }
schedule tuned_c_ for c { B.parallel(i) }
"""


def test_a_candidate_has_the_name_of_an_earlier_one() -> None:
    text = "schedule tuned_c for c {\n    B.unroll(i, 4)\n}\n"
    bodies = []
    for kernel in (KERNEL, KERNEL[: KERNEL.index("schedule")]):
        p = check(parse(Source("k.hb", kernel)), {}, False)
        bodies.append(guarded(p, text, TARGETS["c"], {}, selects=False, strict=False).body)
    assert bodies[0] == bodies[1]
