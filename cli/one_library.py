"""`hbc compile` of several kernels, for several processors (`--targets`), or both: one library, one header.

For one target it is one C file. For several each has a file, and one more chooses when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.compiled import NO_SCHEDULE, Chosen
from hbc.cli.files.one_kernel import name_in, settings_for
from hbc.cli.prepare import AUTO, choose
from hbc.codegen.c.dispatch import Variant, emit_dispatch
from hbc.codegen.c.source import CSource
from hbc.ir.ground.diag import Diagnostic, HbcError, Note, UsageError, distinct
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, TARGETS, Target

if TYPE_CHECKING:
    from hbc.codegen.build.triple import Triple


@record
class Library:
    """`kernels`: their names; `targets`: those of the code, in the order in which they are tried. `parts`:
    each text with the target whose flags it is compiled with, first the one with the header to include."""

    name: str
    kernels: tuple[str, ...]
    targets: tuple[str, ...]
    parts: tuple[tuple[CSource, Target], ...]

    @property
    def files(self) -> dict[str, str]:
        """All texts by file name."""
        sources = [source for source, _ in self.parts]
        return {f"{s.name}.c": s.text for s in sources} | {f"{s.name}.h": s.header for s in sources}


def library(
    kernels: Sequence[Path | Source],
    name: str | None,
    settings: Mapping[str, str],
    targets: Sequence[str | None],
    schedule: str | None,
    isa: tuple[Path, ...],
) -> Library:
    """The kernels for each of the targets (None: the best for them here). `name`: of the library; None for
    one kernel, whose name it has. UsageError for those that do not go together, HbcError for mistakes in
    the kernels, of all of them."""
    if schedule not in (None, AUTO, NO_SCHEDULE):
        hint = "leave --schedule out: each takes its own of the file, or `auto`"
        raise UsageError(
            Diagnostic(
                "--schedule names one schedule for all of several kernels or targets", hint=hint
            )
        )
    _check_names(kernels)
    found = _chosen(kernels, settings, targets, schedule, isa)
    _check(found, len(targets) > 1)
    several = len(targets) > 1
    lowered = [[_lowered(c, several) for c in row] for row in found]
    own = name or found[0][0].pipeline.name
    variants: list[list[Variant]] = []
    for row, bodies in zip(found, lowered, strict=True):
        target = row[0].target
        source = _printed(
            f"{own}_{target.name}" if several else own, bodies, lowered if several else (), target
        )
        variants.append([Variant(target, k, source) for k in bodies])
    order = [*TARGETS]
    # Whoever asks for more comes first; of two that ask for as many, the later in the table.
    variants.sort(
        key=lambda row: (len(row[0].target.needs), order.index(row[0].target.name)), reverse=True
    )
    parts = [(row[0].source, row[0].target) for row in variants]
    names = tuple(c.pipeline.name for c in found[0])
    if several:
        rows = [(n, [row[i] for row in variants]) for i, n in enumerate(names)]
        parts.insert(0, (emit_dispatch(own, rows), TARGETS["c"]))
    return Library(own, names, tuple(row[0].target.name for row in variants), tuple(parts))


def library_for(made: Library, triple: Triple) -> Library:
    """The same with the commands for another machine in its files. UsageError for code that asks the system
    for what only another one gives."""
    from hbc.codegen.build.triple import check_asks, for_triple

    for source, target in made.parts:
        check_asks(source, target, triple, False, alone=False)
    return replace(made, parts=tuple((for_triple(s, t, triple), t) for s, t in made.parts))


def listed_targets(names: str) -> list[str]:
    """Those in `names`, with commas between."""
    listed = [name.strip() for name in names.split(",")]
    twice = next((name for name in listed if listed.count(name) > 1), None)
    if twice is not None:
        raise UsageError(Diagnostic(f"--targets names `{twice}` twice"))
    return listed


def _chosen(
    kernels: Sequence[Path | Source], settings: Mapping[str, str], targets: Sequence[str | None],
    schedule: str | None, isa: tuple[Path, ...],
) -> list[list[Chosen]]:  # fmt: skip
    """A row for each target: all kernels for it. HbcError with the mistakes of all of them."""
    mistakes: list[Diagnostic] = []
    found: list[list[Chosen]] = []
    for target in targets:
        row: list[Chosen] = []
        for kernel in kernels:
            given = settings_for(kernel, kernels, settings)
            try:
                row.append(choose(kernel, given, target, schedule, isa, fix_sizes=True))
            except UsageError:
                raise
            except HbcError as failure:
                mistakes += failure.diagnostics
        if mistakes:
            raise HbcError(distinct(mistakes))
        found.append(row)
    return found


def _check(found: Sequence[Sequence[Chosen]], several: bool) -> None:
    """That one library can hold them."""
    for row in found:
        first, other = row[0], next((c for c in row if c.target.name != row[0].target.name), None)
        if other is not None:
            text = (
                f"`{first.pipeline.name}` would be compiled for `{first.target.name}`, and"
                f" `{other.pipeline.name}` for `{other.target.name}`"
            )
            hint = f"say which: `--target {first.target.name}`, or several by --targets"
            raise UsageError(Diagnostic(text, hint=hint))
    machines = {c.target.machine: c.target.name for row in found for c in row if c.target.machine}
    if GPU in machines:
        if several:
            hint = (
                f"compile for `{machines[GPU]}` alone: its code chooses an architecture by itself"
            )
            raise UsageError(Diagnostic("--targets takes processors, no GPU", hint=hint))
        hint = "compile each by itself: `--kernel NAME` says which of a file"
        raise UsageError(Diagnostic("a library of several kernels is for processors", hint=hint))
    if len(machines) > 1:
        one, other_name = list(machines.values())[:2]
        text = f"`{one}` and `{other_name}` are of different machines: no library holds both"
        raise UsageError(Diagnostic(text, hint="call hbc once for each machine"))
    inputs = (i for c in found[0] for i in c.pipeline.inputs)
    constant = next((i for i in inputs if i.constant), None) if several else None
    if constant is not None:
        text = f"--targets and the constant input `{constant.name}`: each target packs it in its own way"
        raise UsageError(Diagnostic(text, hint="take `constant` away, or compile for one target"))


def _check_names(kernels: Sequence[Path | Source]) -> None:
    """HbcError where two kernels have one name."""
    first: dict[str, Span] = {}
    for kernel in kernels:
        if isinstance(kernel, Source):
            name, here = name_in(kernel)
            other = first.setdefault(name, here)
            if other is not here:
                note = Note("the other one", other)
                text = f"two kernels of the library are called `{name}`"
                raise HbcError(Diagnostic(text, here, "give one another name", (note,)))


def _lowered(chosen: Chosen, several: bool) -> Kernel:
    from hbc.cli.pipeline import lower_to_kernel

    made = chosen.made
    kernel = (
        lower_to_kernel(chosen.pipeline, chosen.schedule, chosen.target)
        if made is None
        else made.kernel
    )
    return replace(kernel, name=f"{kernel.name}_{chosen.target.name}") if several else kernel


def _printed(
    name: str, bodies: Sequence[Kernel], alike: Sequence[Sequence[Kernel]], target: Target
) -> CSource:
    """`alike`: the kernels for each target, where there are several."""
    from hbc.cli.pipeline import features_of
    from hbc.codegen.c.body import Body
    from hbc.codegen.c.file import emit_together

    rows = [Body(k, alike=tuple(others[i] for others in alike)) for i, k in enumerate(bodies)]
    return emit_together(name, rows, target, features_of(target))
