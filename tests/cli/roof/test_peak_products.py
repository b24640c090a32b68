"""Pins that the peaks of tiles and dot products execute what their numbers of operations say."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hbc.cli.roof import roofs
from hbc.codegen.build.amx_emulator import build_emulator, is_possible
from hbc.codegen.build.processor import processor_features

SOURCE = Path(roofs.__file__).with_name("peak_products.c")
OPTIONS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Werror")
# The instruction, and how many operations one is: a multiply and an add for each product.
TILES = {
    "peak_u8s8_amx": ("tdpbusd", 2 * 16 * 16 * 64),
    "peak_bf16_amx": ("tdpbf16ps", 2 * 16 * 16 * 32),
    "peak_f16_amx": ("tdpfp16ps", 2 * 16 * 16 * 32),
}
CALL = """
import ctypes, json, sys
from pathlib import Path
from hbc.codegen.build.amx_library import open_emulator
emulator = open_emulator(Path(sys.argv[1]))
emulator.install()
emulator.reset_counts()
code = ctypes.CDLL(sys.argv[2])[sys.argv[3]](ctypes.c_int64(int(sys.argv[4])))
print(json.dumps([code, emulator.counts()]))
"""
MAIN = """
#include <stdint.h>
int {function}(int64_t operations);
int main(void) {{ return {function}(100000); }}
"""


def compiled(compiler: str, folder: Path) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    out = folder / "peak.so"
    command = [compiler, *OPTIONS, "-fPIC", "-shared", str(SOURCE), "-o", str(out)]
    subprocess.run(command, check=True)
    return out


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("function", TILES)
def test_tiles(function: str, compiler: str, tmp_path: Path) -> None:
    if not is_possible():
        pytest.skip("the AMX emulator needs x86-64 Linux")
    if {"amx_tile"} <= processor_features():
        pytest.skip("this processor executes AMX itself: nothing is counted")
    name, each = TILES[function]
    library, wanted = compiled(compiler, tmp_path), 7 * 6 * each + 1
    command = [sys.executable, "-c", CALL, str(build_emulator()), str(library), function]
    done = subprocess.run(
        [*command, str(wanted)], capture_output=True, text=True, timeout=120, check=True
    )
    code, counts = json.loads(done.stdout)
    assert code == 0
    assert counts[name] == 8 * 6  # the last six begin
    assert {n for n in counts if n.startswith("tdp") and counts[n]} == {name}
    assert (counts["ldtilecfg"], counts["tileloadd"], counts["tilerelease"]) == (1, 2, 1)


def test_tiles_that_are_not_permitted(tmp_path: Path) -> None:
    """A refusal and no signal, so that the next best peak is measured."""
    if platform.machine() != "x86_64" or sys.platform != "linux":
        pytest.skip("only x86-64 Linux has AMX")
    if {"amx_tile"} <= processor_features():
        pytest.skip("this processor has AMX, and the system permits it")
    library = compiled("gcc", tmp_path)
    call = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).peak_bf16_amx(ctypes.c_int64(9)))"
    assert subprocess.run([sys.executable, "-c", call, str(library)], check=False).returncode == 1


@pytest.mark.parametrize("function", ["peak_u8s8_i8mm", "peak_u8s8_dot", "peak_bf16_mmla"])
def test_arm(function: str, tmp_path: Path) -> None:
    for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")
    (tmp_path / "main.c").write_text(MAIN.format(function=function), encoding="ascii")
    files = [str(tmp_path / "main.c"), str(SOURCE), "-o", str(tmp_path / "main")]
    subprocess.run(["aarch64-linux-gnu-gcc", *OPTIONS, "-static", *files], check=True)
    subprocess.run(["qemu-aarch64", "-cpu", "max", str(tmp_path / "main")], check=True)


def test_a_peak_that_is_refused_is_no_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    from hbc.ir.ground.diag import error

    class Refused:
        def seconds(self, *_: object) -> float:
            raise error("refused")

    team: object = Refused()
    assert roofs._peak(team, "peak_bf16_amx", 1) == 0.0  # type: ignore[arg-type]
