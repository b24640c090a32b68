"""C programs that execute described instructions, made from the `emit` of the descriptions themselves."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from hbc.codegen.build.soft_vectors import functions_for
from hbc.codegen.text.instruction_text import (
    compile_flags,
    rows_statement,
    statement,
)  # fmt: skip
from hbc.ir.lang.instruction import Instruction, Place
from hbc.ir.lang.types import Memory
from hbc.ir.meaning.contraction import shape
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

TEMPLATES = Path(__file__).resolve().parents[3] / "codegen" / "templates"

# Linux lets a process use tiles that asks; not where a header stands for them, or the emulator.
PERMISSION = f"""
#include "{TEMPLATES}/amx_probe.h"
static int may_use_tiles(void) {{ return amx_features() & AMX_TILE; }}
"""

NOT_PERMITTED = 4

# Each trial: 64 bytes that configure tiles, then the operands; out comes the accumulator.
MAIN = """
int main(int argc, char **argv)
{
    static unsigned char config[64], data[3][4096];
    long size[3] = {0, 0, 0};
    if (!MAY_RUN) return 4;
    for (int n = 3; n < argc; n++) size[n - 3] = atol(argv[n]);
    for (long trial = atol(argv[2]); trial > 0; trial--) {
        if (fread(config, 1, 64, stdin) != 64) return 2;
        for (int n = 0; n < argc - 3; n++)
            if (fread(data[n], 1, (size_t)size[n], stdin) != (size_t)size[n]) return 2;
        int found = 0;
%s        if (!found) return 3;
        fwrite(data[0], 1, (size_t)size[0], stdout);
    }
    return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A built program, and what it is started with (such as qemu)."""

    path: Path
    runner: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None

    def run(
        self, i: Instruction, sizes: Mapping[str, int], trials: Sequence[Mapping[str, Array]]
    ) -> list[Array]:
        """What the accumulator holds after each trial."""
        order = [i.operands[n] for n in (i.accumulator, *i.factors)]
        first = trials[0]
        counts = [str(first[o.name].nbytes) for o in order]
        sent = b"".join(
            tile_config(i, sizes) + b"".join(t[o.name].tobytes() for o in order) for t in trials
        )
        command = [*self.runner, str(self.path), i.name, str(len(trials)), *counts]
        done = subprocess.run(
            command, input=sent, capture_output=True, check=False, env=self.environment
        )
        if done.returncode == NOT_PERMITTED:
            pytest.skip("this processor has AMX, and the system does not permit it")
        assert done.returncode == 0, f"{' '.join(command)}: {done.returncode} {done.stderr!r}"
        start = first[order[0].name]
        received = np.frombuffer(done.stdout, numpy_dtype(order[0].element))
        return list(received.reshape(len(trials), *start.shape))


def tile_config(i: Instruction, sizes: Mapping[str, int]) -> bytes:
    """LDTILECFG's 64 bytes with tiles 0, 1, 2 as the accumulator and the factors."""
    config = bytearray(64)
    if i.place.memory is Memory.AMX_TILE:
        config[0] = 1
        for tile, n in enumerate((i.accumulator, *i.factors)):
            rows, *columns = shape(i, n, sizes)
            row_bytes = int(np.prod(columns)) * i.operands[n].element.bytes
            config[16 + 2 * tile : 18 + 2 * tile] = row_bytes.to_bytes(2, "little")
            config[48 + tile] = rows
    return bytes(config)


def source(instructions: Sequence[Instruction], compiler: str) -> str:
    """The text of a program with one function for each instruction."""
    headers = dict.fromkeys(
        ("stdint.h", "stdio.h", "stdlib.h", "string.h", *(i.place.header for i in instructions))
    )
    tiles = any(i.place.memory is Memory.AMX_TILE for i in instructions)
    calls = "".join(
        f'        if (!strcmp(argv[1], "{i.name}")) {{ run_{i.name}(config, data); found = 1; }}\n'
        for i in instructions
    )
    return (
        "".join(f"#include <{h}>\n" for h in headers)
        + "".join(function(i, compiler) for i in instructions)
        + (PERMISSION if tiles else "")
        + MAIN.replace("MAY_RUN", "may_use_tiles()" if tiles else "1") % calls
    )


def function(i: Instruction, compiler: str) -> str:
    """Fills the registers, executes the instruction, stores the accumulator."""
    order = [i.operands[n] for n in (i.accumulator, *i.factors)]
    tiles = i.place.memory is Memory.AMX_TILE
    names = {o.name: str(n) if tiles else f"r_{o.name}" for n, o in enumerate(order)}
    body = tile_body if tiles else register_body
    lines = body(i.place, [(names[o.name], i.place.c_type(o.element) or "") for o in order])
    lines.insert(-1, statement(i, compiler, names))
    text = "".join(f"    {line}\n" for line in lines)
    head = f"\nstatic void run_{i.name}(const unsigned char *config, unsigned char data[3][4096])"
    return f"{head}\n{{\n    (void)config;\n{text}}}\n"


def register_body(_: Place, registers: list[tuple[str, str]]) -> list[str]:
    made = []
    for n, (name, c_type) in enumerate(registers):
        made += [f"{c_type} {name};", f"memcpy(&{name}, data[{n}], sizeof {name});"]
    name = registers[0][0]
    return [*made, f"memcpy(data[0], &{name}, sizeof {name});"]


def tile_body(place: Place, registers: list[tuple[str, str]]) -> list[str]:
    made = ["_tile_loadconfig(config);"]
    strides = [f"config[{16 + 2 * n}] + 256 * config[{17 + 2 * n}]" for n in range(len(registers))]
    for n, (name, _) in enumerate(registers):
        made.append(rows_statement(place.load, name, f"data[{n}]", strides[n]))
    return [*made, rows_statement(place.store, registers[0][0], "data[0]", strides[0])]


def build(
    instructions: Sequence[Instruction], command: Sequence[str], kind: str, folder: Path,
    extra: Sequence[str] = (), by_functions: bool = False, first: str = "",
) -> Path:  # fmt: skip
    """Compiles a program of these instructions; a failure shows what the compiler said.
    `by_functions`: which C functions stand for. `first`: C that goes before it."""
    text, out = folder / "instructions.c", folder / "instructions"
    whole = first + source(instructions, kind)
    text.write_text(functions_for(whole) + whole if by_functions else whole, encoding="ascii")
    options = [] if by_functions else compile_flags(instructions)
    done = subprocess.run(
        [*command, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off",
         *options, *extra, str(text), "-o", str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def missing(*tools: str) -> str | None:
    """Why a test that wants these tools is skipped, or None."""
    lacking = [t for t in tools if shutil.which(t) is None]
    return f"not installed: {', '.join(lacking)}" if lacking else None
