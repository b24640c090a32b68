"""The chains that come with hbc: a text for each machine and width of its registers, `known/x86_64/512.txt`
and so on. What takes fewer instructions with VBMI is in `known/x86_64_vbmi` too.

    movement 32 8 2                    units of 32 bits, 8 in a register, 2 sources
    want 0 2 4 6 8 10 12 14
    step 0 1 : 0 2 8 10 4 6 12 14 : _mm256_castps_si256(_mm256_shuffle_ps(..{u}.., ..{v}.., 136))
    step 2 : 0 2 1 3 ..
    make 3                             the value that each `want` is

`_` stands for a unit of which nothing is wanted. `[32: 0 2 ..]` in the C is a register of constants of so
many bits. `cli/sketches/learn.py` writes such entries, and tests prove each. What is used is proven again
when it is read: an entry that does not do what it says is named on stderr, once, and what it was for is
done without it. A user may have chains of his own (`cli/own/own_movements.py`), which go before these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.target import ARM, X86, Target
from hbc.ir.movement.chain import (
    ANY,
    WIDEST_UNIT,
    Chain,
    Movement,
    Row,
    Step,
    coarse,
    does,
    fine,
    paired,
)  # fmt: skip

FOLDER = Path(__file__).parent / "known"
VBMI = f"{X86}_vbmi"
WIDTHS: Mapping[str, tuple[int, ...]] = {X86: (128, 256, 512), VBMI: (256, 512), ARM: (128,)}
"""Bits of a register, by machine."""
MOST_SOURCES = 256  # of an entry
BELOW = {VBMI: X86}  # whose instructions it has too


def library_of(target: Target) -> str:
    """The machine whose chains are for the target."""
    return VBMI if target.permutes_bytes else target.machine


def machines_of(machine: str) -> tuple[str, ...]:
    """It, and the one below it."""
    return (machine, BELOW[machine]) if machine in BELOW else (machine,)


def library_file(machine: str, width: int) -> Path:
    """Where the chains for registers of so many bits are."""
    return FOLDER / machine / f"{width}.txt"


def known_chain(m: Movement, machine: str) -> Chain | None:
    """The chain of the library that does the movement on the machine, in its units."""
    short, width = coarse(m), m.bits * m.lanes
    wanted = _wanted(short)
    own = next((n for n in machines_of(machine) if wanted in _entries(n, width)), None)
    chain = None if own is None else _proven(*_entries(own, width)[wanted])
    if chain is None:
        return None
    times = m.lanes // short.lanes
    steps = tuple(Step(s.operands, fine(s.row, times), s.text) for s in chain.steps)
    return Chain(steps, chain.outputs)


def known_step(bits: int, row: Row, machine: str) -> str | None:
    """The C of the instruction that makes a row, in units of so many bits, of one or two registers."""
    width = bits * len(row)
    unit: Row | None = row
    while unit is not None:
        for own in machines_of(machine):
            found = _steps(own, width).get((bits, _shown(unit)))
            if found is not None:
                text, *entry = found
                return None if _proven(*entry) is None else text
        bits, unit = bits * 2, paired(unit) if bits < WIDEST_UNIT and len(unit) > 2 else None
    return None


_own: dict[tuple[str, int], Mapping[str, tuple[str, int, str]]] = {}
"""Entries that do not come with hbc, by machine and width: what they want, then as in `_entries`."""


def use_own(
    machine: str, width: int, name: str, entries: Iterable[tuple[int, Movement, Chain]]
) -> None:
    """From now on these entries, which the lines of the named file have, go before those that come with hbc;
    those that were given before for this machine and width do not."""
    found = {_wanted(m): (name, number, written([(m, chain)])) for number, m, chain in entries}
    if _own.get((machine, width), {}) != found:
        _own[machine, width] = found
        for cached in (_entries, _proven, _steps):
            cached.cache_clear()


@lru_cache
def _text(machine: str, width: int) -> str:
    known = width in WIDTHS.get(machine, ())
    return library_file(machine, width).read_text("ascii") if known else ""


@lru_cache
def _entries(machine: str, width: int) -> Mapping[str, tuple[str, int, str]]:
    """The entries, by what they want: the file, the number of the first line, and the text."""
    entries = numbered(_text(machine, width))
    shipped = {
        entry[: entry.find("\nstep ")]: (f"{machine}/{width}.txt", number, entry)
        for number, entry in entries
    }
    return {**shipped, **_own.get((machine, width), {})}


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """The entries of a library as they are written, each with the number of its first line."""
    number = 1
    for entry in text.split("\n\n"):
        yield number, entry
        number += entry.count("\n") + 2


@lru_cache
def _proven(name: str, number: int, text: str) -> Chain | None:
    """The chain of an entry that begins at a line; None, and a line on stderr, for one that is wrong."""
    try:
        ((_, chain),) = read_library(text, name, number)
    except InternalError as wrong:
        import logging  # here, since it takes 3 ms

        logging.getLogger(__name__).warning("warning: %s; the entry is not used", wrong)
        return None
    return chain


@lru_cache
def _steps(machine: str, width: int) -> Mapping[tuple[int, str], tuple[str, str, int, str]]:
    """The C of each step, by the bits of a unit and the row as it is written; and the entry that has it."""
    found: dict[tuple[int, str], tuple[str, str, int, str]] = {}
    for file, number, entry in _entries(machine, width).values():
        head, *lines = entry.split("\n")
        for step in (line.split(" : ", 2) for line in lines if line.startswith("step ")):
            if len(step) == 3:
                key = int(head.split()[1]), step[1].replace("_", "0")
                found.setdefault(key, (step[2], file, number, entry))
    return found


def filled(row: Row) -> Row:
    """With something, always the same, where nothing is wanted."""
    return tuple(max(u, 0) for u in row)


def read_library(text: str, name: str, first: int = 1) -> Iterator[tuple[Movement, Chain]]:
    """The entries of a library. InternalError, with the line (`first` is that of the text), for one that
    does not compute what it says."""
    lines = list(enumerate(text.splitlines(), first))
    starts = [at for at, (_, line) in enumerate(lines) if line.startswith("movement ")]
    for start, end in pairwise([*starts, len(lines)]):
        number = lines[start][0]
        try:
            m, chain = _entry([line for _, line in lines[start:end] if line.strip()])
            right = does(chain, m)
        except (ValueError, IndexError, KeyError) as e:
            raise InternalError(f"{name}:{number}: no entry of a library: {e}") from e
        if not right:
            raise InternalError(f"{name}:{number}: the steps do not do the movement")
        yield m, chain


def _entry(lines: list[str]) -> tuple[Movement, Chain]:
    bits, lanes, sources = _numbers(lines[0].partition(" ")[2])
    if sources > MOST_SOURCES:
        raise ValueError(f"{sources} sources")
    rows: list[Row] = []
    steps: list[Step] = []
    outputs: tuple[int, ...] = ()
    for line in lines[1:]:
        kind, _, rest = line.partition(" ")
        match kind:
            case "want":
                rows.append(_row(rest, lanes))
            case "step":
                operands, row, text = rest.split(" : ", 2)
                steps.append(Step(_numbers(operands), _row(row, lanes), text))
            case "make":
                outputs = _numbers(rest)
            case _:
                raise ValueError(f"`{kind}`")
    return Movement(bits, lanes, sources, tuple(rows)), Chain(tuple(steps), outputs)


def _row(text: str, lanes: int) -> Row:
    row = tuple(ANY if u == "_" else _number(u) for u in text.split())
    if len(row) != lanes:
        raise ValueError(f"{len(row)} units of {lanes}")
    return row


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(_number, text.split()))


def _number(text: str) -> int:
    if not text.isdigit():
        raise ValueError(f"`{text}` is no number")
    return int(text)


def written(entries: Iterable[tuple[Movement, Chain]]) -> str:
    """The text of a library, in the order of its movements."""
    texts = []
    for m, chain in sorted(entries, key=lambda e: (e[0].bits, e[0].lanes, e[0].sources, e[0].rows)):
        lines = [_wanted(m)]
        lines += [
            f"step {' '.join(map(str, s.operands))} : {_shown(s.row)} : {s.text}"
            for s in chain.steps
        ]
        texts.append("\n".join([*lines, f"make {' '.join(map(str, chain.outputs))}\n"]))
    return "\n".join(texts)


def _wanted(m: Movement) -> str:
    """The lines that say which movement an entry does."""
    wants = [f"want {_shown(row)}" for row in m.rows]
    return "\n".join([f"movement {m.bits} {m.lanes} {m.sources}", *wants])


def _shown(row: Row) -> str:
    return " ".join("_" if u == ANY else str(u) for u in row)
