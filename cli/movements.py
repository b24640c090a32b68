"""Which accesses of a kernel were moved in whole registers, for `hbc explain`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbc.ir.ground.counted import counted
from hbc.ir.movement.move import move
from hbc.ir.movement.moved import Moved
from hbc.ir.movement.reverse import reverse

if TYPE_CHECKING:
    from hbc.cli.compiled import Chosen
    from hbc.cli.show.report import Json
    from hbc.ir.lang.kernel import Kernel


def movements(chosen: Chosen) -> list[Moved]:
    """What the passes `reverse` and `move` do to the kernel, each in the order of its statements."""
    from hbc.cli.pipeline import lower_to_kernel

    found: list[Moved] = []
    p, schedule, target = chosen.pipeline, chosen.schedule, chosen.target
    after: dict[str, Kernel] = {}
    kernel = lower_to_kernel(p, schedule, target, after.__setitem__, before="move")
    reverse(after["promote"], target, found)
    move(kernel, target, found)
    return found


def movement_lines(found: Sequence[Moved]) -> list[str]:
    """A sentence for each kind of access, with how often the code has it."""
    lines = []
    for m, times in Counter(found).items():
        vectors = f"{m.vectors} vectors of {m.type}" if m.vectors > 1 else f"a vector of {m.type}"
        often = f", {times} times" if times > 1 else ""
        accesses = counted(m.whole, "store" if m.stored else "load")
        move = "moves" if m.moves == 1 else "move"
        by = f"{accesses} and {counted(m.moves, 'instruction')} that {move} elements"
        if not m.moves:
            by = f"{accesses} of several vectors whose elements alternate"
        lines.append(
            f"  `{m.buffer}`: {vectors} by {by}, instead of about {counted(m.before, 'instruction')}{often}"
        )
    return ["", "elements that lie apart, moved in whole registers:", *lines] if lines else []


def as_json(m: Moved) -> Json:
    return {
        "buffer": m.buffer,
        "stored": m.stored,
        "type": m.type,
        "vectors": m.vectors,
        "instructions": m.moves,
        "accesses": m.whole,
        "replaced": m.before,
    }
