"""What a command's compiled code runs on: this processor, an emulator, a GPU or its stand-in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hbc.cli.compiled import Chosen, Compiled, Runner
from hbc.cli.prepare import require_runnable
from hbc.cli.show.report import notice
from hbc.codegen.build.cross import is_foreign
from hbc.codegen.build.processor import (
    TILES,
    emulated_features,
    missing_features,
    softened_features,
)  # fmt: skip
from hbc.ir.ground.diag import Diagnostic, ToolError, UsageError
from hbc.ir.lang.target import GPU, X86, Target


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
    from hbc.codegen.build.gpu import find_loader, gpu_count, gpu_facts

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
    """What the target's code needs. Code with a fallback runs without an emulator, unless one is wanted:
    then it executes tiles also where the processor could. ToolError when the code can be run in no way."""
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
    tiles = TILES.intersection(target.needs) if wanted else emulated_features(target)
    if missing:
        notice(f"note: this processor has no {_families(missing)}, and times mean nothing")
    if tiles.difference(missing) and wanted:
        notice("note: an emulator executes AMX, as --emulate asks, and times mean nothing")
    elif wanted and not missing:
        notice(
            f"note: `{target.name}` code runs without an emulator: this processor has all it needs"
        )
    return _runner(tiles, target)


def for_instructions(runner: Runner, compiled: Compiled) -> Runner:
    """The same for the instructions in the code, of which the processor may lack some that not all code
    for the target has. Says so on stderr."""
    target = compiled.chosen.target
    if runner.emulator is not None or target.machine != X86 or is_foreign(target.machine):
        return runner
    missing = sorted(emulated_features(target, compiled.source.instructions))
    if not missing or not _has_emulator():
        return runner
    lacks = f"note: this processor has no {', '.join(missing)}"
    if compiled.chosen.fallback:
        if not missing_features(target):  # else it has been said
            notice(f"{lacks}: the plain loops run")
        return runner
    notice(f"{lacks}: an emulator executes AMX, and times mean nothing")
    return _runner(missing, target)


def _runner(tiles: Collection[str], target: Target) -> Runner:
    """With the emulator, where it is to stand for these features."""
    from hbc.codegen.build.amx_emulator import build_emulator

    return Runner(build_emulator() if tiles else None, tuple(sorted(softened_features(target))))


def _families(missing: Sequence[str]) -> str:
    """`AMX: an emulator executes it`: what is missing, and what stands for it."""
    names = {"amx": "AMX", "avx512": "AVX-512", "avx": "AVX-VNNI"}
    families = list(dict.fromkeys(names[feature.partition("_")[0][:6]] for feature in missing))
    parts = []
    if "AMX" in families:
        parts.append("AMX: an emulator executes it")
    if soft := [name for name in families if name != "AMX"]:
        parts.append(f"{soft[0]}: C functions stand for it")
    return ", and no ".join(reversed(parts))


def can_emulate(target: Target) -> bool:
    """Whether what this processor lacks for the target's code can be emulated here."""
    if target.machine == GPU:
        return True
    if not is_foreign(target.machine):
        tiles = TILES if _has_emulator() else frozenset()
        return (softened_features(target) | tiles).issuperset(missing_features(target))
    try:
        require_runnable(target)
    except ToolError:
        return False
    return True


def _has_emulator() -> bool:
    """Whether the AMX emulator can be built here, given a compiler."""
    from hbc.codegen.build.amx_emulator import is_possible

    return is_possible()


def counts_text(counts: Mapping[str, int]) -> str:
    """`64 tdpbf16ps, 32 tileloadd`, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{n:,} {name}" for name, n in ordered) or "no tile instruction"
