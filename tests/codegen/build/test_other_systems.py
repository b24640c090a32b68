"""Pins that C for every target compiles for other systems than this one: zig has all their headers."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from hbc.cli.prepare import choose, compile_chosen
from hbc.codegen.build.toolchain import Compiler, find_compiler, flags
from hbc.codegen.c.source import CSource
from hbc.ir.lang.target import ARM, TARGETS, X86

# A buffer of the function, one of each thread, f16, libm, masked tails.
KERNEL = """
kernel elsewhere
size   N
input  A: f16[N + 2]
output O: f32[N]
B[x] = exp(f32(A[x]))
S[x] = B[x] * 2.0
O[x] = S[x] + S[x + 2]
schedule wide for c, avx2, avx512, arm_dot {
    B.compute_root()
    O.split(x, xo, xi, 48)
    O.parallel(xo)
    O.vectorize(xi, 4)
    S.compute_at(O, xo)
}
"""
GEMM = Path(__file__).resolve().parents[3] / "samples" / "gemm_bf16.hb"
SYSTEMS = {"": "x86_64-", X86: "x86_64-", ARM: "aarch64-"}


def zig() -> tuple[str, ...]:
    if find_spec("ziglang") is None:
        pytest.skip(
            "no ziglang, the compiler that has other systems' headers (pip install hbc[zig])"
        )
    return (sys.executable, "-m", "ziglang", "cc")


def printed(file: Path, target: str, fallback: str) -> CSource:
    source = compile_chosen(choose(file, {}, target, None, fallback=fallback)).source
    assert isinstance(source, CSource)
    return source


@pytest.mark.parametrize(
    ("target", "system"),
    [("c", "windows-gnu"), ("avx2", "windows-gnu"), ("avx512vnni", "windows-gnu"),
     ("amx", "windows-gnu"), ("arm_dot", "windows-gnu"), ("arm_dot", "macos")],
)  # fmt: skip
def test_compiles_without_a_warning(target: str, system: str, tmp_path: Path) -> None:
    compiler = Compiler(zig(), "zig", "zig")
    file = tmp_path / "elsewhere.hb"
    file.write_text(KERNEL, encoding="ascii")
    sources = [printed(file, target, "scalar")]
    if target == "amx":
        sources.append(printed(GEMM, target, "error"))
    for source in sources:
        (tmp_path / f"{source.name}.c").write_text(source.text, encoding="ascii")
        (tmp_path / f"{source.name}.h").write_text(source.header, encoding="ascii")
        options = [o for o in flags(source, TARGETS[target], compiler) if o != "-fopenmp"]
        command = [
            *compiler.command, "-target", SYSTEMS[TARGETS[target].machine] + system, *options,
            "-Wall", "-Wextra", "-Werror", "-c", f"{source.name}.c", "-o", f"{source.name}.o",
        ]  # fmt: skip
        subprocess.run(command, cwd=tmp_path, check=True)


def test_the_buffer_is_aligned_and_given_back_on_windows(tmp_path: Path) -> None:
    """What its run-time library has instead of aligned_alloc, and no free of what that gave."""
    file = tmp_path / "elsewhere.hb"
    file.write_text(KERNEL, encoding="ascii")
    source = printed(file, "c", "error")
    (tmp_path / "elsewhere.c").write_text(source.text, encoding="ascii")
    (tmp_path / "elsewhere.h").write_text(source.header, encoding="ascii")
    seen = subprocess.run(
        [*zig(), "-target", "x86_64-windows-gnu", "-E", "-P", "elsewhere.c"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    ours = seen[seen.index("static void *allocate") :]
    assert "_aligned_malloc(bytes, 64)" in ours
    assert "_aligned_free(" in ours
    assert " free(" not in ours
    assert "aligned_alloc(" not in ours.replace("_aligned_malloc(", "")


def test_portable_code_by_zig_is_portable(tmp_path: Path) -> None:
    """Unless told otherwise, zig uses all that this processor has."""
    compiler = Compiler(zig(), "zig", "zig")
    (tmp_path / "empty.c").write_text("", encoding="ascii")
    source, target = CSource("empty", "", ""), TARGETS["c"]
    command = [*compiler.command, *flags(source, target, compiler), "-dM", "-E", "empty.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "__VERSION__" in done.stdout
    assert not [name for name in ("AVX", "DOTPROD", "BMI") if f"_{name}_" in done.stdout]
    found = find_compiler()
    assert "-mcpu=baseline" not in flags(source, target, found) or found.kind == "zig"
