"""The soft header under AddressSanitizer and with other options: overruns are seen, results stay."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import amx_model
import pytest
from amx_machines import HERE, Build, Workshop, known_compiler, request, run_alone, why_not
from amx_products import float_programs
from amx_program import Program
from amx_random_programs import any_program, any_programs

from hbc.codegen.build.amx_emulator import SOFT_FLAGS
from hbc.codegen.build.toolchain import Compiler

SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")
COMPILERS = ("gcc", "clang")


def sanitized(workshop: Workshop, compiler: str) -> tuple[Path, Build]:
    build = Build("soft", compiler)
    if reason := why_not(build):
        pytest.skip(reason)
    with_, program = known_compiler(compiler), workshop.folder / "empty.c"
    program.write_text("int main(void) { return 0; }\n", encoding="ascii")
    command = [*with_.command, *SANITIZE, str(program), "-o", str(program.with_suffix(""))]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{compiler} has no sanitizers")
    return workshop.program(build, *SANITIZE), build


def at_the_end(kind: str, beyond: int) -> Program:
    """The last row of a 3x20 tile ends that many bytes behind the arena."""
    program = Program()
    program.configure([(3, 20)])
    program.add("tilezero", 0)
    last = 2 * 48 + 20
    at = program.room(last) + beyond
    program.add(kind, 0, at=at, stride=48)
    program.add("tilerelease")
    return program


@pytest.mark.parametrize("kind", ["tileloadd", "tileloaddt1", "tilestored"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_overrun_by_one_byte_is_seen(workshop: Workshop, compiler: str, kind: str) -> None:
    path, build = sanitized(workshop, compiler)
    assert run_alone(path, at_the_end(kind, 0), build).returncode == 0
    answer = run_alone(path, at_the_end(kind, 1), build)
    assert answer.returncode != 0
    assert b"AddressSanitizer: heap-buffer-overflow" in answer.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sanitizers_have_nothing_to_say_about_the_rest(workshop: Workshop, compiler: str) -> None:
    path, build = sanitized(workshop, compiler)
    for seed in range(4):
        answer = run_alone(path, any_program(seed), build)
        assert answer.stderr == b""
        assert answer.stdout == amx_model.run(any_program(seed))


@pytest.mark.parametrize("options", ["-O0", "-O3 -march=native -ffp-contract=fast"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_options_do_not_change_results(workshop: Workshop, compiler: str, options: str) -> None:
    build = Build("soft", compiler)
    if reason := why_not(build):
        pytest.skip(reason)
    path = workshop.program(build, *options.split())
    for seed in range(4):
        assert run_alone(path, any_program(seed), build).stdout == amx_model.run(any_program(seed))


def test_another_processor(workshop: Workshop) -> None:
    """The same bits on ARM, NaN and denormal numbers included."""
    arm, qemu = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if not arm or not qemu:
        pytest.skip("no aarch64-linux-gnu-gcc or no qemu-aarch64")
    options = ("-DPROGRAM", "-O2", "-static", *SOFT_FLAGS)
    path = workshop.make(Compiler((arm,), "gcc", arm), HERE / "driver.c", "arm", *options)
    floats = [*float_programs("tdpbf16ps"), *float_programs("tdpfp16ps")]
    for program, expected in [*any_programs()[:4], *floats[::29]]:
        answer = subprocess.run(
            [qemu, str(path)], input=request(program), capture_output=True, timeout=60, check=False
        )
        assert answer.stdout == expected
