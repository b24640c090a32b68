"""`hbc synth --learn`: the movements that a gather or a kernel asks for, added to the user's own library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.own.own_movements import add_own, use_file
from hbc.cli.show.report import Json, notice, print_json, progress
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.ground.record import record
from hbc.ir.lang.target import ARM, X86
from hbc.ir.movement.chain import Chain, Movement
from hbc.ir.movement.library import VBMI, known_chain, library_of, machines_of
from hbc.ir.movement.windows import Place

if TYPE_CHECKING:
    from hbc.synth.prunings.watch import Watch

MACHINES = {"avx512": (X86, 512), "avx512vbmi": (VBMI, 512), "avx2": (X86, 256), "neon": (ARM, 128)}


@record
class Learned:
    """A chain that is new in a file; `bound`: how many instructions it takes at least."""

    movement: Movement
    chain: Chain
    bound: int
    file: Path


def learn_spec(
    text: str, target: str, vbmi: bool, element: str | None, watch: Watch, as_json: bool
) -> None:
    """Learns what a kernel asks for that loads what the change or gather reads, or stores what it makes.
    UsageError for one whose registers are not made whole of elements."""
    if target not in MACHINES:
        hint = did_you_mean(target, MACHINES) or f"but for {', '.join(MACHINES)}"
        raise UsageError(Diagnostic(f"no movements are learned for `{target}`", hint=hint))
    machine, width = MACHINES["avx512vbmi" if vbmi and target == "avx512" else target]
    vectors, bits = _vectors(text, element, width)
    tell_learned(learned(asked_for(vectors, bits), machine, watch), as_json)


def learn_kernel(
    kernel: Path, settings: Mapping[str, str], target: str | None, watch: Watch, as_json: bool
) -> None:
    """Learns what the vectorized accesses of a kernel ask for and the library does not know."""
    from hbc.cli.pipeline import lower_to_kernel
    from hbc.cli.prepare import choose
    from hbc.ir.movement.move import move

    chosen = choose(kernel, settings, target, None)
    lowered = lower_to_kernel(chosen.pipeline, chosen.schedule, chosen.target, before="move")
    unknown: list[Movement] = []
    move(lowered, chosen.target, [], unknown)
    asked = dict.fromkeys(unknown)
    tell_learned(learned(asked, library_of(chosen.target), watch), as_json)


def asked_for(vectors: Sequence[Sequence[Place]], bits: int) -> list[Movement]:
    """The movements, in normal form, of vectors at these places of memory, loaded or stored."""
    from hbc.cli.sketches.learn import joined, taken

    return list(dict.fromkeys([*taken(vectors, bits), *joined(vectors, bits)]))


def learned(
    asked: Iterable[Movement], machine: str, watch: Watch
) -> Iterator[Learned | Movement]:  # fmt: skip
    """For each movement what was learned; or itself, where the library has a chain that is as short, or none
    was found."""
    from hbc.cli.sketches.learn import instructions_of, learn
    from hbc.synth.prunings.watch import Stopped

    known_instructions = cache(lambda width: instructions_of(machine, width))
    with progress() as bar:
        for number, m in enumerate(asked, 1):
            bar.step(f"movement {number}")
            width = m.bits * m.lanes
            for own in machines_of(machine):
                use_file(own, width)
            known, found = known_chain(m, machine), None
            with suppress(Stopped):
                watch.check()
                found = learn(m, known_instructions(width), watch.check)
            if found is None or (known is not None and known.cost <= found[0].cost):
                yield m
            else:
                yield Learned(m, found[0], found[1], add_own(machine, width, [(m, found[0])]))


def tell_learned(found: Iterable[Learned | Movement], as_json: bool) -> None:
    """What is new, and how many are not."""
    new: list[Learned] = []
    old = 0
    for one in found:
        if isinstance(one, Learned):
            new.append(one)
        else:
            old += 1
    if as_json:
        print_json({"learned": [_as_json(one) for one in new], "known": old})
        return
    for one in new:
        m = one.movement
        least = "no chain has fewer" if one.bound == one.chain.cost else f"at least {one.bound}"
        click.echo(
            f"{len(m.rows)} of {m.sources} registers of {m.lanes} x {m.bits} bits: "
            f"{counted(one.chain.cost, 'instruction')} ({least}), in {one.file}"
        )
    if old:
        notice(f"{old} movements were known by as few instructions, or no chain was found")


def _as_json(one: Learned) -> Json:
    m = one.movement
    return {
        "bits": m.bits, "lanes": m.lanes, "sources": m.sources, "want": [list(r) for r in m.rows],
        "instructions": one.chain.cost, "bound": one.bound, "file": str(one.file),
    }  # fmt: skip


def _vectors(text: str, element: str | None, width: int) -> tuple[list[list[Place]], int]:
    """The places of each register that is made, and the bits of an element."""
    from hbc.cli.sketches.gather_spec import MOST_BYTES, element_type
    from hbc.frontend.sketch.gather_text import parse_gather
    from hbc.frontend.sketch.layout_spec import parse_spec

    if "[" in text:
        dtype = element_type(element)
        gather = parse_gather(text, dtype.bytes, MOST_BYTES).gather
        arrays, places = [gather.output], [(0, int(at)) for at in gather.index]
    else:
        spec = parse_spec(text, width)
        dtype, change = spec.dtype, spec.change
        arrays = list(change.outputs)
        places = [_place(int(at), change.inputs) for at in change.gather.index]
    if any(at < 0 for _, at in places):
        hint = "name an element for every place"
        raise UsageError(Diagnostic("`--learn` knows no zeros, and nothing left open", hint=hint))
    return list(_cut(places, arrays, width // dtype.bits)), dtype.bits


def _place(at: int, arrays: Sequence[tuple[int, ...]]) -> Place:
    """Of an element counted through all arrays: its array, and where it lies in that."""
    for number, shape in enumerate(arrays):
        if at < prod(shape):
            return number, at
        at -= prod(shape)
    return 0, -1


def _cut(
    places: Sequence[Place], arrays: Sequence[tuple[int, ...]], lanes: int
) -> Iterator[list[Place]]:
    """The places of each register, of arrays that are whole registers."""
    start = 0
    for size in map(prod, arrays):
        if size % lanes:
            hint = f"make it a multiple of {lanes}"
            message = f"{size} elements do not fill registers of {lanes}"
            raise UsageError(Diagnostic(message, hint=hint))
        for first in range(start, start + size, lanes):
            yield list(places[first : first + lanes])
        start += size
