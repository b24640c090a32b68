"""What a command's compiled code runs on: this processor, an emulator, a GPU or its stand-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.cli.prepare import Chosen, Runner, require_runnable
from hbc.cli.report import notice
from hbc.codegen.cross import emulator, is_foreign
from hbc.codegen.processor import missing_features, softened_features
from hbc.ir.diag import Diagnostic, ToolError, UsageError
from hbc.ir.target import GPU, Target


def runner_for(chosen: Chosen, emulate: bool, on_cpu: bool, stands_in: bool = False) -> Runner:
    """What the options and this machine's processors lead to; says on stderr what was decided.
    `stands_in`: without a GPU, the processor runs CUDA code unasked. UsageError for --on-cpu without
    CUDA code; ToolError when the code can be run in no way."""
    if chosen.target.machine != GPU:
        if on_cpu:
            hint = "it is for `--target cuda`"
            message = f"--on-cpu: `{chosen.target.name}` code runs on the CPU anyway"
            raise UsageError(Diagnostic(message, hint=hint))
        return _cpu_runner(chosen, emulate)
    from hbc.codegen.gpu import find_loader, gpu_count, gpu_facts

    if on_cpu:
        return Runner(on_cpu=True)
    if stands_in and gpu_count() == 0:
        notice("note: there is no GPU here: the CPU runs its threads")
        return Runner(on_cpu=True)
    try:
        name = gpu_facts().name
        find_loader()
    except ToolError as e:
        said = e.diagnostics[0].message
        raise ToolError(Diagnostic(f"{said}; `--on-cpu` lets the processor run the code")) from e
    return Runner(gpu=name)


def _cpu_runner(chosen: Chosen, wanted: bool) -> Runner:
    """With the AMX emulator's library when the target's code needs AMX and this processor has none; says
    on stderr what was decided. Code with a fallback runs without an emulator, unless one is wanted.
    ToolError when the code can be run in no way."""
    from hbc.codegen.amx_emulator import EMULATED, build_emulator

    target, missing = chosen.target, missing_features(chosen.target)
    if is_foreign(target.machine):
        require_runnable(target)
        return Runner()
    emulable = can_emulate(target)
    if missing and chosen.fallback and not (wanted and emulable):
        notice(f"note: this processor has no {', '.join(missing)}: the plain loops run")
        return Runner()
    if not emulable:
        require_runnable(target)
        return Runner()
    if missing:
        notice(f"note: this processor has no {_families(missing)}, and times mean nothing")
        library = build_emulator() if EMULATED.intersection(missing) else None
        return Runner(library, tuple(sorted(softened_features(target))))
    if wanted:
        executes = "executes AMX itself" if EMULATED & set(target.needs) else "has all it needs"
        notice(f"note: `{target.name}` code runs without an emulator: this processor {executes}")
    return Runner()


def _families(missing: Sequence[str]) -> str:
    """`AMX: an emulator executes it`: what is missing, and what stands for it."""
    names = {"amx": "AMX", "avx512": "AVX-512", "avx": "AVX-VNNI"}
    found = list(dict.fromkeys(names[feature.partition("_")[0][:6]] for feature in missing))
    parts = []
    if "AMX" in found:
        parts.append("AMX: an emulator executes it")
    if soft := [name for name in found if name != "AMX"]:
        parts.append(f"{soft[0]}: C functions stand for it")
    return ", and no ".join(reversed(parts))


def can_emulate(target: Target) -> bool:
    """Whether what this processor lacks for the target's code can be emulated here."""
    from hbc.codegen.amx_emulator import EMULATED, is_possible

    if target.machine == GPU:
        return True
    if not is_foreign(target.machine):
        soft, tiles = softened_features(target), EMULATED if is_possible() else frozenset()
        return soft.union(tiles).issuperset(missing_features(target))
    try:
        emulator(target.machine)
    except ToolError:
        return False
    return True


def counts_text(counts: Mapping[str, int]) -> str:
    """`64 tdpbf16ps, 32 tileloadd`, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{n:,} {name}" for name, n in ordered) or "no tile instruction"
