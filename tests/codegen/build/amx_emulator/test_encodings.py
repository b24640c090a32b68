"""Instructions in every way that an assembler writes them: addressing modes, registers, bytes."""

from __future__ import annotations

import ctypes
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from amx_machines import (
    Build,
    Workshop,
    compiler,
    emulator,
    is_x86_64_linux,
    known_compiler,
    why_not,
)
from amx_program import configuration

from hbc.codegen.build.amx_emulator import TRAP

pytestmark = pytest.mark.skipif(not is_x86_64_linux(), reason="AMX needs x86-64 Linux")

ROWS, ROW, STRIDE = 5, 24, 40


@dataclass(frozen=True, slots=True)
class Address:
    """How a load is written. `base` and `index` are registers; the index holds stride / scale."""

    base: str | None
    index: str | None
    scale: int = 1
    displacement: int = 0

    @property
    def stride(self) -> int:
        return STRIDE if self.index else 0

    def __str__(self) -> str:
        inside = f"%{self.base}" if self.base else ""
        inside += f",%{self.index},{self.scale}" if self.index else ""
        return f"{self.displacement or ''}({inside})"


BASES = ("rax", "rbx", "rdx", "rbp", "rsi", "r8", "r11", "r12", "r13", "r14", "r15")
ADDRESSES = [
    *[Address(base, "r9", 1, d) for base in BASES for d in (0, 1, -128, 127, 128, -4096, 70000)],
    *[Address("r10", index, s) for index in (*BASES, "r9") for s in (1, 2, 4, 8)],
    *[Address(base, None, 1, d) for base in ("rax", "r12", "r13") for d in (0, 8)],
    *[Address(None, index, scale) for index in ("rax", "r13") for scale in (1, 4)],
    Address("rsp", "rbp", 2, 64),
]


def routine(name: str, a: Address, low: int) -> str:
    """`name(config, rows, out)`: loads tile 6 from the address and stores it at `out`.

    An absolute address (no base) gets its rows at `low`, where the test puts them."""
    save = ("rbx", "rbp", "r12", "r13", "r14", "r15")
    lines = [f".globl {name}", f".type {name}, @function", f"{name}:"]
    lines += [f"push %{r}" for r in save] + ["push %rdx", "ldtilecfg (%rdi)"]
    if a.base == "rsp":  # the rows move to the stack, signals may use what lies below it
        lines += [f"mov ${STRIDE * ROWS}, %ecx", "sub $1024, %rsp", "mov %rsp, %rdi"]
        lines += [f"add ${a.displacement}, %rdi", "rep movsb"]
    elif a.base:
        lines += [f"mov %rsi, %{a.base}", f"sub ${a.displacement}, %{a.base}"]
    if a.index:
        lines.append(f"mov ${STRIDE // a.scale}, %{a.index}")
    operand = str(a) if a.base else f"{low:#x}(,%{a.index},{a.scale})"
    lines.append(f"tileloadd {operand}, %tmm6")
    if a.base == "rsp":
        lines.append("add $1024, %rsp")
    lines += ["pop %rdx", f"mov ${ROW}, %ecx", "tilestored %tmm6, (%rdx,%rcx,1)", "tilerelease"]
    return "\n".join([*lines, *[f"pop %{r}" for r in reversed(save)], "ret", ""])


@pytest.fixture(params=["trapped", "native"])
def intrinsics(request: pytest.FixtureRequest) -> str:
    """Whether the instructions are made to trap, or are the processor's where it has AMX."""
    way = str(request.param)
    if reason := why_not(Build(way, "gcc")):
        pytest.skip(reason)
    return way


def assemble(workshop: Workshop, intrinsics: str, name: str, text: str) -> ctypes.CDLL:
    emulator().install()  # pytest's faulthandler may have come back since
    gcc, name = known_compiler("gcc"), f"{name}-{intrinsics}"
    if intrinsics == "trapped":
        text = re.sub(r"^(?=(?:ld|st)tilecfg|tile)", f"{TRAP}\n", text, flags=re.MULTILINE)
        assert text.count(TRAP) > 3
    source = workshop.folder / f"{name}.s"
    source.write_text(text + '.section .note.GNU-stack,"",@progbits\n', encoding="ascii")
    return ctypes.CDLL(str(workshop.make(gcc, source, f"{name}.so", "-shared", "-nostdlib")))


def test_addresses(workshop: Workshop, intrinsics: str) -> None:
    """Base, index, scale and displacement, also those that are encoded in a way of their own."""
    low = low_memory()
    text = ".text\n" + "".join(routine(f"load{i}", a, low) for i, a in enumerate(ADDRESSES))
    library = assemble(workshop, intrinsics, "addresses", text)
    config = configuration([(0, 0)] * 6 + [(ROWS, ROW)])
    data = np.random.default_rng(3).integers(0, 256, STRIDE * ROWS).astype(np.uint8)
    ctypes.memmove(low, data.tobytes(), data.size)
    for i, address in enumerate(ADDRESSES):
        got = np.zeros((ROWS, ROW), np.uint8)
        pointers = (data.ctypes.data, got.ctypes.data)
        library[f"load{i}"](config, *(ctypes.c_void_p(p) for p in pointers))
        starts = range(0, ROWS * address.stride, address.stride) if address.stride else [0] * ROWS
        expected = np.stack([data[at : at + ROW] for at in starts])
        assert np.array_equal(got, expected), str(address)


def low_memory() -> int:
    """A page that 32 bits address: where the system likes, else below programs that are linked to an address,
    whose heap may have grown through all that lies above them (Debian's Python)."""
    mmap = ctypes.CDLL(None).mmap
    mmap.restype = ctypes.c_void_p
    page, private, low, there = (
        4096,
        0x22,
        0x40,
        0x100000,
    )  # anonymous; MAP_32BIT, MAP_FIXED_NOREPLACE
    tries = [(None, low), *((place, there) for place in range(1 << 16, 1 << 22, 1 << 16))]
    for place, flag in tries:
        got = mmap(
            ctypes.c_void_p(place), ctypes.c_size_t(page), 3, private | flag, -1, ctypes.c_long(0)
        )
        if got is not None and 0 < got < 1 << 31:
            return int(got)
    raise AssertionError("no page below 2 GiB is free")


CONFIGURATION = """\
.section .tdata,"awT",@progbits
.align 8
.skip 24
local:
.byte 1, 0
.skip 14
.word 12
.skip 30
.byte 7
.skip 15
.data
.byte 0
global:
.byte 1, 0
.skip 14
.word 8
.skip 30
.byte 3
.skip 15
.text
.globl relative
relative:
ldtilecfg global(%rip)
sttilecfg (%rdi)
tilerelease
ret
.globl segment
segment:
mov local@gottpoff(%rip), %rax
ldtilecfg %fs:(%rax)
sttilecfg (%rdi)
mov $1, %ecx
ldtilecfg %fs:-8(%rax,%rcx,8)
sttilecfg 64(%rdi)
tilerelease
ret
"""


def test_configurations_relative_to_code_and_thread(workshop: Workshop, intrinsics: str) -> None:
    library = assemble(workshop, intrinsics, "configuration", CONFIGURATION)
    got = ctypes.create_string_buffer(128)
    library.relative(got)
    assert got.raw[:64] == configuration([(3, 8)])
    library.segment(got)
    assert got.raw == 2 * configuration([(7, 12)])


FP16 = """\
#include "amx_intrinsics.h"
void products(void);
void products(void)
{
    BODY
}
"""


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_bytes_of_fp16(workshop: Workshop, name: str) -> None:
    """Our bytes are those of the mnemonic, where the assembler knows it."""
    if reason := why_not(Build("native", name)):
        pytest.skip(reason)
    tiles = [(c, a, b) for c in range(8) for a in range(8) for b in range(8) if len({c, a, b}) == 3]
    written = "".join(f"tdpfp16ps %tmm{b}, %tmm{a}, %tmm{c}\n" for c, a, b in tiles)
    mnemonics = workshop.folder / "fp16.s"
    mnemonics.write_text(".text\n" + written, encoding="ascii")
    objects = [workshop.folder / f"{name}-{made}.o" for made in ("mnemonics", "bytes")]
    if compiler("gcc") is None:
        pytest.skip("no gcc")
    command = [*known_compiler("gcc").command, "-c", str(mnemonics), "-o", str(objects[0])]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("the assembler does not know tdpfp16ps")
    source = workshop.folder / "fp16.c"
    body = "\n    ".join(f"_tile_dpfp16ps({c}, {a}, {b});" for c, a, b in tiles)
    source.write_text(FP16.replace("BODY", body), encoding="ascii")
    options = ["-O2", "-mamx-tile", "-c", str(source), "-o", str(objects[1])]
    workshop.compile(known_compiler(name), options)
    expected = code(objects[0])
    assert len(expected) == 5 * len(tiles)
    assert expected in code(objects[1])


def code(path: Path) -> bytes:
    """The section .text of an object file."""
    out = path.with_suffix(".text")
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", str(path), str(out)], check=True)
    return out.read_bytes()
