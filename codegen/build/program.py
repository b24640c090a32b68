"""A compiled kernel as something to call: a library for this processor, or a program for another one
that serves calls under an emulator (`templates/native_driver.c`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from hbc.codegen.build.cross import emulated_environment, emulator, is_foreign
from hbc.codegen.build.pretended import pretended
from hbc.codegen.build.processor import softened_features
from hbc.codegen.build.toolchain import Compiler, build, build_kept, find_compiler, link_program
from hbc.codegen.c.source import CSource
from hbc.ir.ground.record import record
from hbc.ir.host.scratch import scratch_folder
from hbc.ir.lang.target import RISCV, Target

DRIVER = Path(__file__).parents[1] / "templates" / "native_driver.c"


@record
class Program:
    """An executable, the command before its path that runs it, and what its environment adds."""

    path: Path
    runner: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> tuple[str, ...]:
        return (*self.runner, str(self.path.resolve()))


def for_this_processor(
    source: CSource, target: Target, *, soft: bool = True, emulate: bool = False
) -> tuple[CSource, Target]:
    """The code as it runs here, and the target that compiles it. `soft`: with C functions for instructions
    that this processor lacks, where there are such. `emulate`: its tiles are the AMX emulator's, which is
    loaded before it. ToolError as `softened`."""
    if emulate:
        from hbc.codegen.build.amx_emulator import trapped

        source = trapped(source)
    softly = softened_features(target) if soft else frozenset()
    source = pretended(source, softly)
    if not softly:
        return source, target
    from hbc.codegen.build.soft_vectors import softened

    return softened(source, target)


def build_callable(
    source: CSource,
    target: Target,
    folder: Path,
    *,
    compiler: Compiler | None = None,
    extra: Sequence[str] = (),
    sanitize: bool = False,
    soft: bool = True,
    emulate: bool = False,
) -> Path | Program:
    """Compiles the kernel to what `Native` takes: a library in `folder`, or a program there where the
    target is another machine. `soft`: C functions stand for instructions that this processor lacks;
    `emulate`: the AMX emulator executes its tiles. ToolError: no compiler or emulator, or as `build`
    and `for_this_processor`."""
    if not is_foreign(target.machine):
        source, target = for_this_processor(source, target, soft=soft, emulate=emulate)
        out = folder / f"{source.name}.so"
        if not extra and not sanitize:
            return build_kept(source, target, out, compiler or find_compiler())
        return build(source, target, out, compiler=compiler, extra=extra, sanitize=sanitize)
    runner = emulator(target.machine)
    compiler = compiler or find_compiler(target.machine)
    if target.machine == RISCV:
        from hbc.codegen.rvv.old_qemu import NO_OTHER_VECTORS, for_old_qemu

        source = replace(source, text=for_old_qemu(source.text))
        extra = (*extra, *NO_OTHER_VECTORS)
    with scratch_folder(folder) as objects:
        kernel = build(source, target, objects / "kernel.o", "obj", compiler=compiler, extra=extra)
        out = folder / source.name
        link_program(DRIVER, [kernel], out, compiler, source)
    return Program(out, runner, emulated_environment(target))
