"""`hbc synth --spec "[i in 64] x[i % 8 * 8 + i / 8]"`: the instructions for any gather of one array."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.show.report import Json, notice, progress
from hbc.cli.sketches.synth_code import FEATURES, FLAG, tell, wanted_features
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, NoSolutionError, UsageError, did_you_mean
from hbc.ir.ground.record import record

if TYPE_CHECKING:
    from hbc.cli.sketches.shuffles import Shuffle
    from hbc.codegen.shuffles.c_file import Buffer
    from hbc.frontend.sketch.gather_text import ArrayGather
    from hbc.ir.lang.types import DType
    from hbc.synth.prunings.watch import Watch

NAME = "shuffle"  # of the function
MOST_BYTES = 1 << 14  # of an array: 256 registers of 512 bits


@record
class Files:
    """Where code and proof are written; without one the code is printed."""

    code: Path | None
    proof: Path | None


def run_gather(
    text: str, settings: Mapping[str, str], target: str, element: str | None, files: Files,
    watch: Watch, as_json: bool,
) -> None:  # fmt: skip
    """Prints the code, or writes it. UsageError where the gather cannot be read."""
    from hbc.cli.sketches.shuffles import BITS, FILES, find_shuffle, shuffle_machine
    from hbc.codegen.shuffles.c_file import emit_registers
    from hbc.frontend.sketch.gather_text import parse_gather
    from hbc.synth.prunings.watch import Stopped

    if target not in FILES:
        hint = did_you_mean(target, FILES) or f"but for {', '.join(FILES)}"
        raise UsageError(Diagnostic(f"no gather is looked for on `{target}`", hint=hint))
    dtype = element_type(element)
    grain = min(8, dtype.bits)
    if grain < 8 and target not in BITS:
        hint = f"but for {', '.join(BITS)}"
        raise UsageError(Diagnostic(f"no gather of {dtype} is looked for on `{target}`", hint=hint))
    features = wanted_features(settings, tuple(FEATURES) if grain < 8 else (FLAG,))
    asked = parse_gather(text, Fraction(dtype.bits, 8), MOST_BYTES)
    with progress() as bar:
        watch.tell = bar.step
        machine = shuffle_machine(target, "vbmi" in features, grain, "gfni" in features)
        size = dtype.bits // grain
        shuffle = find_shuffle(asked.gather, size, machine, watch.check, watch.deadline)
    if shuffle is None:
        message = "no program for this gather was found in the time given"
        raise NoSolutionError(Diagnostic(message, hint="raise --timeout"))
    stopped = False
    try:
        watch.check()
    except Stopped:
        stopped = True
    facts = shuffle_facts(f"{' '.join(text.split())} of {dtype}", shuffle)
    if grain < 8:
        facts = [*facts, f"{8 // dtype.bits} elements are a byte, the first at its low end"]
    code = emit_registers(NAME, shuffle.program, *buffers(asked, dtype), target, facts, grain)
    if files.proof is not None:
        write_proof(text, features, target, dtype, asked, shuffle, files.proof)
    tell(code, facts, as_object(text, target, dtype, shuffle) if as_json else None, files.code)
    if stopped and not as_json and not shuffle.minimal:
        notice("stopped by the timeout: fewer instructions may do")


def buffers(asked: ArrayGather, dtype: DType) -> tuple[list[Buffer], list[Buffer], DType]:
    """The arrays that are read and made, and what C has in them: bytes, where elements are less."""
    from hbc.codegen.shuffles.c_file import Buffer
    from hbc.ir.lang.types import U8

    kept = dtype if dtype.bits >= 8 else U8
    read, made = (
        -(-prod(e) * dtype.bits // kept.bits) for e in (asked.gather.inputs[0], asked.gather.output)
    )
    return [Buffer(asked.array, read)], [Buffer("out", made)], kept


def write_proof(
    text: str, features: AbstractSet[str], target: str, dtype: DType, asked: ArrayGather,
    shuffle: Shuffle, file: Path,
) -> None:  # fmt: skip
    """The program as a proof, which declares the array that the gather reads."""
    from hbc.cli.files.replace_file import write_text
    from hbc.cli.sketches.proof import written
    from hbc.cli.sketches.proof_gather import gather_proof

    title = " ".join(text.split())
    extents = ", ".join(map(str, asked.gather.inputs[0]))
    goal = title if ":" in title else f"{asked.array}: [{extents}] {title}"
    lines = gather_proof(title, goal, dtype.bits, target, features, shuffle)
    write_text(file, written(lines))
    if lines[0]["claims"][-1] != "minimal" and shuffle.minimal:
        least = lines[-1]["fewest"]
        notice(
            f"the proof claims that at least {least} instructions are needed, not that these are fewest"
        )


def element_type(named: str | None) -> DType:
    """Bytes, unless --type says otherwise."""
    from hbc.ir.lang.types import DTYPES, I4, U4, DType, Kind

    types = {**DTYPES, "i4": I4, "u4": U4, "u1": DType("u1", Kind.UINT, 1)}
    words = {None: "u8", "bits": "u1", "nibbles": "u4", "bytes": "u8", "words": "u16"}
    name = words.get(named, named)
    if name not in types or name == "bool":
        hint = did_you_mean(str(name), types) or "for example u1, u4, u8, u16, f32, f64"
        raise UsageError(Diagnostic(f"`--type {name}` is no type of elements", hint=hint))
    return types[name]


def shuffle_facts(title: str, shuffle: Shuffle) -> list[str]:
    """What was found and what is proven, in sentences."""
    cost = shuffle.program.cost
    said = [f"{title}: {counted(cost, 'instruction')}"]
    if shuffle.minimal:
        return [*said, "no program has fewer"]
    return [*said, open_question(shuffle.bound, cost)]


def open_question(bound: int, cost: int) -> str:
    """What is known of a program that may not be the shortest."""
    return f"no program has fewer than {bound}; whether one has fewer than {cost} is open"


def as_object(text: str, target: str, dtype: DType, shuffle: Shuffle) -> dict[str, Json]:
    """Stable keys. `minimal`: no program has fewer instructions for all registers together; else at least
    `bound` are needed, and `gap` more were found."""
    cost = shuffle.program.cost
    return {
        "spec": text,
        "target": target,
        "type": str(dtype),
        "function": NAME,
        "instructions": cost,
        "bound": shuffle.bound,
        "gap": cost - shuffle.bound,
        "minimal": shuffle.minimal,
    }
