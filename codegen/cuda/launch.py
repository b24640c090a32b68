"""Launches of device functions, as the host has them."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.cuda.index import WIDE_SUFFIX
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import Unit
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir

STREAM = "stream"
AXES = "xyz"


@record
class Launch:
    """Of one device function, or with `fits` of one of two: the condition for the one with indices of 32
    bits. `dynamic`: bytes of shared memory beyond those that every block may have; `maps`: of `map_lines`."""

    kernel: str
    loops: Sequence[ir.For]
    threads: int
    dynamic: int
    arguments: Sequence[str]
    fits: str
    maps: Sequence[tuple[str, str]] = ()

    @property
    def kernels(self) -> tuple[str, ...]:
        """The functions that it may be of."""
        return (self.kernel, f"{self.kernel}{WIDE_SUFFIX}") if self.fits else (self.kernel,)

    def chosen(self, spelling: str) -> str:
        """The one that fits, in C: `spelling` has {} for its name."""
        names = " : ".join(spelling.format(k) for k in self.kernels)
        return f"fits ? {names}" if self.fits else names


def print_launch(launch: Launch, unit: Unit) -> None:
    """The launch and what it needs; a grid without blocks is not launched."""
    out, code = unit.out, unit.codes["cuda"]
    extents = [str(scalar(loop.extent, unit)) for loop in reversed(launch.loops)]
    extents += ["1"] * (len(AXES) - len(extents))
    resident = launch.loops[0].marks.resident
    if launch.dynamic:
        unit.dynamic_shared.update(dict.fromkeys(launch.kernels, launch.dynamic))
    with out.braces():
        blocks = ", ".join(f"blocks_{a} = {e}" for a, e in zip(AXES, extents, strict=True))
        out.line(f"const int64_t {blocks};")
        if resident is None:
            leave("too_large(blocks_x, blocks_y, blocks_z)", code, unit)
        with out.braces("if (blocks_x > 0 && blocks_y > 0 && blocks_z > 0)"):
            if launch.fits:
                out.line(f"const bool fits = {launch.fits};")
            _allow_shared(launch, unit)
            for declared, condition in launch.maps:
                for line in declared.splitlines():
                    out.line(line)
                leave(condition, code, unit)
            if resident is None:
                out.line(f"const dim3 grid({', '.join(f'(unsigned)blocks_{a}' for a in AXES)});")
            else:
                _grid_of_resident(launch, resident, unit)
            _calls(launch, unit)
            name = launch.chosen('"{}"')
            leave(f"refused({name}, grid, {launch.threads}, {launch.dynamic})", code, unit)


def _allow_shared(launch: Launch, unit: Unit) -> None:
    """More shared memory than every block may have is asked for by each function."""
    if not launch.dynamic:
        return
    for kernel in launch.kernels:
        limit = "cudaFuncAttributeMaxDynamicSharedMemorySize"
        attribute = f"cudaFuncSetAttribute({kernel}, {limit}, {launch.dynamic})"
        what = f"{kernel}: {launch.dynamic} bytes of shared memory for a block"
        leave(f'failed({attribute}, "{what}")', unit.codes["cuda"], unit)


def _grid_of_resident(launch: Launch, wanted: int, unit: Unit) -> None:
    """As many blocks as run at once, or fewer where there are fewer tiles."""
    kernel, name = launch.chosen("(const void *){}"), launch.chosen('"{}"')
    asked = f"{kernel}, {name}, {launch.threads}, {launch.dynamic}, {wanted}"
    unit.out.line(f"const int64_t resident = resident_blocks({asked});")
    leave("resident == 0", unit.codes["cuda"], unit)
    unit.out.line("const int64_t tile_count = blocks_x * blocks_y * blocks_z;")
    unit.out.line("const dim3 grid((unsigned)(tile_count < resident ? tile_count : resident));")


def _calls(launch: Launch, unit: Unit) -> None:
    grid = f"<<<grid, {launch.threads}, {launch.dynamic}, {STREAM}>>>"
    calls = [f"{k}{grid}({', '.join(launch.arguments)});" for k in launch.kernels]
    if not launch.fits:
        unit.out.line(calls[0])
        return
    for condition, call in zip(("if (fits)", "else"), calls, strict=True):
        unit.out.line(condition)
        unit.out.line(f"    {call}")


def leave(condition: str, code: str, unit: Unit) -> None:
    """Returns an error code where the condition holds."""
    unit.out.line(f"if ({condition})")
    unit.out.depth += 1
    unit.out.line(f"return {code};")
    unit.out.depth -= 1
