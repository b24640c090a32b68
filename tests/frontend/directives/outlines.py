"""Lowers small programs for the tests of directives, and shows their loops in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

from agreement import check_case, examine
from case import Case

from hbc.cli.pipeline import lower_to_kernel
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import (
    Allocate,
    Block,
    For,
    If,
    LetStmt,
    LoopKind,
    Marks,
    Prefetch,
    Stmt,
    Store,
)
from hbc.ir.lang.show import show
from hbc.ir.lang.target import TARGETS

# Nothing, one, primes, what divides.
PAIRS = ((0, 0), (0, 3), (1, 1), (7, 5), (16, 8), (13, 11), (37, 2), (40, 4))
SIZES = tuple({"W": w, "H": h} for w, h in PAIRS)


def with_schedule(program: str, schedule: str) -> str:
    """The program with a schedule named s, for all targets."""
    return f"{dedent(program).strip()}\nschedule s for c, avx2, avx512 {{ {schedule} }}"


def lowered(
    program: str, schedule: str, after: str = "simplify", target: str = "avx512",
    sizes: dict[str, int] | None = None,
) -> Kernel:  # fmt: skip
    """The kernel after a pass. With `sizes`, these are fixed."""
    pipeline = check_case(_case(with_schedule(program, schedule), sizes or {}, target, bool(sizes)))
    found: dict[str, Kernel] = {}
    lower_to_kernel(pipeline, pipeline.schedules[0], TARGETS[target], found.setdefault)
    return found[after]


def outline(kernel: Kernel) -> str:
    """Loops, allocations, conditions and stores, two spaces a level:

    check H % 4 == 0            a promise of the schedule, tested before the kernel runs
    parallel yo: H / 4          a loop and its extent (`from` its start when that is not 0)
    f[18] heap                  an allocation of 18 elements
    f = .. x16 masked           a store of 16 lanes
    """
    promises = [check.condition for check in kernel.checks if "promises" in check.message]
    return "\n".join([*(f"check {show(c)}" for c in promises), *_lines(kernel.body, 0)])


def expected(text: str) -> str:
    """What `outline` should give, as written in a test."""
    return dedent(text).strip("\n")


def _lines(s: Stmt, depth: int) -> Iterator[str]:
    pad = "  " * depth
    match s:
        case Block(body=body):
            for c in body:
                yield from _lines(c, depth)
        case For(
            var=var, start=start, extent=extent, kind=kind, body=body, marks=Marks(stages=stages)
        ):
            begin = "" if show(start) == "0" else f" from {show(start)}"
            more = f" in {stages} stages" if stages > 1 else ""
            name = "" if kind is LoopKind.SERIAL else f"{kind} "
            yield f"{pad}{name}{var}: {show(extent)}{begin}{more}"
            yield from _lines(body, depth + 1)
        case LetStmt(name=name, value=value, body=body):
            yield f"{pad}{name} = {show(value)}"
            yield from _lines(body, depth)
        case Allocate(buffer=buffer, extent=extent, memory=memory, body=body):
            yield f"{pad}{buffer}[{show(extent)}] {memory}"
            yield from _lines(body, depth)
        case If(condition=condition, then=then, otherwise=otherwise):
            yield f"{pad}if {show(condition)}"
            yield from _lines(then, depth + 1)
            if otherwise is not None:
                yield f"{pad}else"
                yield from _lines(otherwise, depth + 1)
        case Store(buffer=buffer, index=index, mask=mask):
            lanes = "" if index.type.lanes == 1 else f" x{index.type.lanes}"
            yield f"{pad}{buffer} = ..{lanes}{'' if mask is None else ' masked'}"
        case Prefetch(buffer=buffer):
            yield f"{pad}prefetch {buffer}"
        case _:
            yield f"{pad}{type(s).__name__.lower()}"


def agrees(program: str, schedule: str, *targets: str) -> None:
    """The interpreter after each pass agrees with the oracle, at all sizes that are allowed."""
    text = with_schedule(program, schedule)
    for target in targets or ("avx512",):
        outcome = examine(Case(text, SIZES, target, False, 1), native=False)
        assert outcome.kind == "passed", f"on {target}: {outcome.detail}"


def refusal(program: str, schedule: str, sizes: dict[str, int] | None = None) -> str:
    """The first message, and its hint, for a schedule that must be refused."""
    try:
        lowered(program, schedule, sizes=sizes)
    except HbcError as e:
        first = e.diagnostics[0]
        return first.message + (f" | {first.hint}" if first.hint else "")
    raise AssertionError("the schedule was accepted")


def _case(text: str, sizes: dict[str, int], target: str, fixed: bool) -> Case:
    return Case(text, (sizes,), target, fixed, 1)
