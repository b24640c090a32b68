"""`hbc compile --targets`: a kernel compiled for several processors, and what chooses when called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hbc.cli.compiled import NO_SCHEDULE, Chosen
from hbc.cli.prepare import choose
from hbc.codegen.c.dispatch import Variant, emit_dispatch
from hbc.codegen.c.source import CSource
from hbc.ir.ground.diag import Diagnostic, UsageError
from hbc.ir.ground.record import record
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, TARGETS, Target

AUTO = "auto"


@record
class Several:
    """The variants in the order in which they are tried, and what tries them."""

    variants: tuple[Variant, ...]
    caller: CSource

    @property
    def files(self) -> dict[str, str]:
        """All texts by file name."""
        sources = [self.caller, *(v.source for v in self.variants)]
        return {f"{s.name}.c": s.text for s in sources} | {f"{s.name}.h": s.header for s in sources}

    @property
    def parts(self) -> list[tuple[CSource, Target]]:
        """Each with the target whose flags it is compiled with."""
        return [(self.caller, TARGETS["c"]), *((v.source, v.target) for v in self.variants)]


def several(
    kernel: Path,
    settings: Mapping[str, str],
    names: str,
    schedule: str | None,
    isa: tuple[Path, ...],
) -> Several:
    """The kernel for the targets in `names`, with commas between. UsageError for those that do not go
    together, HbcError for mistakes of the kernel."""
    if schedule not in (None, AUTO, NO_SCHEDULE):
        hint = "leave --schedule out: each target takes its own of the file, or `auto`"
        raise UsageError(Diagnostic("--targets with one schedule for all of them", hint=hint))
    found = [
        choose(kernel, settings, name, schedule, isa, fix_sizes=True) for name in _listed(names)
    ]
    _check(found)
    lowered = [_lowered(chosen) for chosen in found]
    sources = [_printed(c, k, lowered) for c, k in zip(found, lowered, strict=True)]
    variants = [
        Variant(chosen.target, kernel, source)
        for chosen, kernel, source in zip(found, lowered, sources, strict=True)
    ]
    order = [*TARGETS]
    # Whoever asks for more comes first; of two that ask for as many, the later in the table.
    variants.sort(key=lambda v: (len(v.target.needs), order.index(v.target.name)), reverse=True)
    return Several(tuple(variants), emit_dispatch(found[0].pipeline.name, variants))


def _listed(names: str) -> list[str]:
    listed = [name.strip() for name in names.split(",")]
    twice = next((name for name in listed if listed.count(name) > 1), None)
    if twice is not None:
        raise UsageError(Diagnostic(f"--targets names `{twice}` twice"))
    return listed


def _check(found: Sequence[Chosen]) -> None:
    """That one library can hold them."""
    machines = {
        chosen.target.machine: chosen.target.name for chosen in found if chosen.target.machine
    }
    if GPU in machines:
        hint = f"compile for `{machines[GPU]}` alone: its code chooses an architecture by itself"
        raise UsageError(Diagnostic("--targets takes processors, no GPU", hint=hint))
    if len(machines) > 1:
        one, other = list(machines.values())[:2]
        text = f"`{one}` and `{other}` are of different machines: no library holds both"
        raise UsageError(Diagnostic(text, hint="call hbc once for each machine"))
    constant = next((i for i in found[0].pipeline.inputs if i.constant), None)
    if constant is not None:
        text = f"--targets and the constant input `{constant.name}`: each target packs it in its own way"
        raise UsageError(Diagnostic(text, hint="take `constant` away, or compile for one target"))


def _lowered(chosen: Chosen) -> Kernel:
    from hbc.cli.pipeline import lower_to_kernel

    made = chosen.made
    kernel = (
        lower_to_kernel(chosen.pipeline, chosen.schedule, chosen.target)
        if made is None
        else made.kernel
    )
    return replace(kernel, name=f"{kernel.name}_{chosen.target.name}")


def _printed(chosen: Chosen, kernel: Kernel, alike: Sequence[Kernel]) -> CSource:
    from hbc.cli.pipeline import features_of
    from hbc.codegen.c.file import emit_c

    return emit_c(kernel, chosen.target, needs=features_of(chosen.target), alike=alike)
