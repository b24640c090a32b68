"""What the manual answers with #UD or #GP ends the program, with a message that names the rule."""

from __future__ import annotations

import re
import signal

import amx_model
import pytest
from amx_machines import Build, Workshop, has_hardware, run_alone, why_not
from amx_program import Program, configuration

NATIVE = Build("native", "gcc")
FULL = configuration([(16, 64)] * 8)


def with_config(text: bytes, *step: object, **place: int) -> Program:
    """The instruction after that configuration."""
    program = Program()
    program.add("ldtilecfg", at=program.place(text))
    if step:
        kind, *tiles = step
        program.add(str(kind), *(int(str(t)) for t in tiles), at=program.room(1024), **place)
    return program


def changed(at: int, value: int, text: bytes = FULL) -> bytes:
    return text[:at] + bytes([value]) + text[at + 1 :]


def shaped(c: tuple[int, int], a: tuple[int, int], b: tuple[int, int]) -> bytes:
    return configuration([c, a, b])


def unconfigured(kind: str, *tiles: int) -> Program:
    program = Program()
    program.add(kind, *tiles, at=program.room(1024), stride=64)
    return program


RELEASED = with_config(FULL, "tilerelease")
RELEASED.add("tilezero", 0)

# The message without the address of the instruction.
FAULTS = {
    "palette": (
        with_config(changed(0, 2)),
        "#GP in ldtilecfg: the palette is neither 0 nor 1",
    ),
    "reserved": (
        with_config(changed(15, 1)),
        "#GP in ldtilecfg: a reserved byte of the configuration is not zero",
    ),
    "ninth tile": (
        with_config(changed(32, 4)),
        "#GP in ldtilecfg: the configuration names more than eight tiles",
    ),
    "ninth tile's rows": (
        with_config(changed(63, 1)),
        "#GP in ldtilecfg: the configuration names more than eight tiles",
    ),
    "rows": (
        with_config(changed(51, 17)),
        "#GP in ldtilecfg tmm3: a tile of more than 16 rows (tmm3 is 17x64 bytes)",
    ),
    "columns": (
        with_config(changed(16 + 2 * 5, 65)),
        "#GP in ldtilecfg tmm5: a tile with rows of more than 64 bytes (tmm5 is 16x65 bytes)",
    ),
    "columns, upper byte": (
        with_config(changed(17, 1)),
        "#GP in ldtilecfg tmm0: a tile with rows of more than 64 bytes (tmm0 is 16x320 bytes)",
    ),
    "no rows": (
        with_config(changed(48, 0)),
        "#GP in ldtilecfg tmm0: a tile with rows but no columns, or the reverse "
        "(tmm0 is 0x64 bytes)",
    ),
    "no columns": (
        with_config(changed(16, 0)),
        "#GP in ldtilecfg tmm0: a tile with rows but no columns, or the reverse "
        "(tmm0 is 16x0 bytes)",
    ),
    "zero without configuration": (
        unconfigured("tilezero", 2),
        "#UD in tilezero tmm2: no tile configuration is loaded",
    ),
    "load without configuration": (
        unconfigured("tileloadd", 7),
        "#UD in tileloadd tmm7: no tile configuration is loaded",
    ),
    "product without configuration": (
        unconfigured("tdpbssd", 0, 1, 2),
        "#UD in tdpbssd tmm0, tmm1, tmm2: no tile configuration is loaded",
    ),
    "after release": (RELEASED, "#UD in tilezero tmm0: no tile configuration is loaded"),
    "tile not configured": (
        with_config(configuration([(16, 64)]), "tilestored", 1, stride=64),
        "#UD in tilestored tmm1: the tile is not configured (tmm1 is 0x0 bytes)",
    ),
    "zero of a tile not configured": (
        with_config(configuration([(16, 64)]), "tilezero", 6),
        "#UD in tilezero tmm6: the tile is not configured (tmm6 is 0x0 bytes)",
    ),
    "row of 6 bytes": (
        with_config(configuration([(4, 6)]), "tileloaddt1", 0, stride=64),
        "#UD in tileloaddt1 tmm0: the bytes of a row are not a multiple of 4 (tmm0 is 4x6 bytes)",
    ),
    "start row": (
        with_config(configuration([(4, 8)], start_row=4), "tileloadd", 0, stride=8),
        "#UD in tileloadd tmm0: the configuration's start_row is not a row of the tile "
        "(tmm0 is 4x8 bytes)",
    ),
    "result is the first factor": (
        with_config(FULL, "tdpfp16ps", 3, 3, 4),
        "#UD in tdpfp16ps tmm3, tmm3, tmm4: the three tiles are not distinct "
        "(tmm3 is 16x64, tmm3 is 16x64, tmm4 is 16x64 bytes)",
    ),
    "result is the second factor": (
        with_config(FULL, "tdpfp16ps", 3, 4, 3),
        "#UD in tdpfp16ps tmm3, tmm4, tmm3: the three tiles are not distinct "
        "(tmm3 is 16x64, tmm4 is 16x64, tmm3 is 16x64 bytes)",
    ),
    "a square": (
        with_config(FULL, "tdpfp16ps", 3, 4, 4),
        "#UD in tdpfp16ps tmm3, tmm4, tmm4: the three tiles are not distinct "
        "(tmm3 is 16x64, tmm4 is 16x64, tmm4 is 16x64 bytes)",
    ),
    "rows of the product": (
        with_config(shaped((15, 64), (16, 64), (16, 64)), "tdpbf16ps", 0, 1, 2),
        "#UD in tdpbf16ps tmm0, tmm1, tmm2: the first two tiles differ in rows "
        "(tmm0 is 15x64, tmm1 is 16x64, tmm2 is 16x64 bytes)",
    ),
    "columns of the product": (
        with_config(shaped((16, 60), (16, 64), (16, 64)), "tdpbsud", 0, 1, 2),
        "#UD in tdpbsud tmm0, tmm1, tmm2: the first and the third tile differ in bytes of a row "
        "(tmm0 is 16x60, tmm1 is 16x64, tmm2 is 16x64 bytes)",
    ),
    "depth of the product": (
        with_config(shaped((16, 64), (16, 64), (15, 64)), "tdpbusd", 0, 1, 2),
        "#UD in tdpbusd tmm0, tmm1, tmm2: the second tile has not 4 bytes a row for each row of "
        "the third (tmm0 is 16x64, tmm1 is 16x64, tmm2 is 15x64 bytes)",
    ),
    "product with rows of 6 bytes": (
        with_config(shaped((4, 8), (4, 6), (1, 8)), "tdpbuud", 0, 1, 2),
        "#UD in tdpbuud tmm0, tmm1, tmm2: the bytes of a row are not a multiple of 4 "
        "(tmm0 is 4x8, tmm1 is 4x6, tmm2 is 1x8 bytes)",
    ),
    "product with a tile not configured": (
        with_config(shaped((4, 8), (0, 0), (1, 8)), "tdpbuud", 0, 1, 2),
        "#UD in tdpbuud tmm0, tmm1, tmm2: the tile is not configured "
        "(tmm0 is 4x8, tmm1 is 0x0, tmm2 is 1x8 bytes)",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("build", [NATIVE, Build("trapped", "gcc"), Build("soft", "gcc")], ids=str)
def test_fault(workshop: Workshop, build: Build, name: str) -> None:
    """The message begins with what the model raises. The hardware has no words for it."""
    if reason := why_not(build):
        pytest.skip(reason)
    program, message = FAULTS[name]
    with pytest.raises(amx_model.Fault, match=message.split()[0]):
        amx_model.run(program)
    answer = run_alone(workshop.program(build), program, build)
    if build == NATIVE and has_hardware():
        assert answer.returncode in (-signal.SIGILL, -signal.SIGSEGV)
        return
    text = answer.stderr.decode()
    assert answer.returncode == -signal.SIGABRT
    assert re.sub(r" at 0x[0-9a-f]+", "", text) == f"AMX: {message}\n"
    assert (" at 0x" in text) == (build.intrinsics != "soft")
