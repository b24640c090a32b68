"""What blocks ask of a GPU, beside what its architecture has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hbc.codegen.cuda.source import SharedUse
from hbc.codegen.cuda.threads import array_bytes, shared_bytes
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import FRAGMENTS, Memory
from hbc.ir.lang.walk import children, nodes, statements

_KIB = 1024
SHARED_OF_ARCH = {
    75: 64 * _KIB, 80: 163 * _KIB, 86: 99 * _KIB, 87: 163 * _KIB, 89: 99 * _KIB, 90: 227 * _KIB,
    100: 227 * _KIB, 103: 227 * _KIB, 110: 227 * _KIB, 120: 99 * _KIB, 121: 99 * _KIB,
}  # fmt: skip
"""Bytes of shared memory that a block may have, by compute capability (CUDA C++ Programming Guide,
"Maximum amount of shared memory per thread block")."""
MOST_SHARED = max(SHARED_OF_ARCH.values())


def shared_uses(body: ir.Stmt) -> tuple[SharedUse, ...]:
    """Of all launches of a kernel that have shared memory."""
    return tuple(_uses(body))


def _uses(s: ir.Stmt) -> Iterator[SharedUse]:
    if not (isinstance(s, ir.For) and s.kind is ir.LoopKind.BLOCK):
        for c in children(s):
            if isinstance(c, ir.Stmt):
                yield from _uses(c)
        return
    shared = [n for n in statements(s) if isinstance(n, ir.Allocate) and n.memory is Memory.SHARED]
    if shared:
        largest = max(shared, key=array_bytes)
        arrays = tuple((a.buffer, array_bytes(a)) for a in shared)
        yield SharedUse(shared_bytes(s), arrays, largest.span)


def fragment_places(body: ir.Stmt) -> dict[Memory, Span]:
    """Where each kind of fragments was asked for first."""
    places: dict[Memory, Span] = {}
    for n in nodes(body):
        if isinstance(n, ir.Allocate) and n.memory in FRAGMENTS and n.span is not None:
            places.setdefault(n.memory, n.span)
    return places


def own_arch(instructions: Sequence[Instruction]) -> str | None:
    """The one architecture, such as `sm_90a`, that has features of its own which the instructions need."""
    names = (f.cpuinfo for i in instructions for f in i.needs)
    return next((name for name in names if name.endswith("a")), None)


def suited_archs(instructions: Sequence[Instruction], archs: Sequence[str]) -> tuple[str, ...]:
    """The architectures, `sm_90a` in place of `sm_90` where instructions need it: the same GPUs run it."""
    own = own_arch(instructions)
    known = (own if own is not None and a == own.rstrip("a") else a for a in archs)
    return tuple(dict.fromkeys(known))


def able_archs(instructions: Sequence[Instruction], archs: Sequence[str]) -> tuple[str, ...]:
    """Those that have the instructions, as `suited_archs`; all where none has."""
    suited = suited_archs(instructions, archs)
    return tuple(a for a in suited if not _lacks(instructions, a)) or suited


def had_by_all(instructions: Sequence[Instruction], archs: Sequence[str]) -> list[Instruction]:
    """The instructions that each of the architectures has."""
    return [i for i in instructions if not any(_lacks((i,), a) for a in suited_archs((i,), archs))]


def _lacks(instructions: Sequence[Instruction], arch: str) -> bool:
    own, needed = own_arch(instructions), max((_needed(i) for i in instructions), default=0)
    return _number(arch) < needed or (own is not None and arch != own)


def _needed(i: Instruction) -> int:
    return max(f.bit.leaf for f in i.needs)


def _number(arch: str) -> int:
    return int(arch.removeprefix("sm_").rstrip("af"))


def check_instructions(
    instructions: Sequence[Instruction], archs: Sequence[str],
    asked: Mapping[Memory, Span] | None = None,
) -> None:  # fmt: skip
    """HbcError where an architecture, such as `sm_75`, lacks a feature that an instruction needs.
    `asked`: where the fragments were that it works on."""
    wrong: list[Diagnostic] = []
    for i in instructions:
        lacking = [a for a in suited_archs((i,), archs) if _lacks((i,), a)]
        if lacking:
            needed = _needed(i)
            name, older = own_arch((i,)) or f"sm_{needed}", _number(lacking[0]) < needed
            wrong.append(
                Diagnostic(
                    f"`{i.name}` needs {name}, and {lacking[0]} {'is older' if older else 'has no such'}",
                    None if asked is None else asked.get(i.place.memory),
                    "leave it out of `--arch`, or use a schedule with other instructions",
                )
            )  # fmt: skip
    if wrong:
        raise HbcError(wrong)


def check_shared(uses: Sequence[SharedUse], archs: Sequence[str] = ()) -> None:
    """HbcError where a block has more shared memory than an architecture, such as `sm_86`, or any has."""
    wrong: list[Diagnostic] = []
    for use in uses:
        short = [(a, n) for a in archs if use.total > (n := _of(a))]
        if use.total > MOST_SHARED:
            short = [("the largest GPU", MOST_SHARED)]
        if short:
            who, most = min(short, key=lambda s: s[1])
            listed = ", ".join(f"`{name}` {size:,}" for name, size in use.arrays)
            wrong.append(
                Diagnostic(
                    f"a block needs {use.total:,} bytes of shared memory ({listed}), and {who} has "
                    f"{most:,} for one", use.span,
                    "compute smaller pieces at a time, in fewer stages, or leave that one out of "
                    "`--arch`" if use.total <= MOST_SHARED else
                    "compute smaller pieces at a time, or some of them at the root",
                )
            )  # fmt: skip
    if wrong:
        raise HbcError(list(dict.fromkeys(wrong)))


def _of(arch: str) -> int:
    digits = "".join(c for c in arch if c.isdigit())
    return SHARED_OF_ARCH.get(int(digits), MOST_SHARED) if digits else MOST_SHARED
