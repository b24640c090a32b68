"""Pins that the C++ and Rust functions of a kernel compile without a warning, compute what the C function
does, and refuse spans and slices of other lengths."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from suite_bindings import ran

from hbc.cli.commands.compile import command
from hbc.codegen.build.toolchain import find_compiler

# Extents that floor, and names that are keywords elsewhere.
KERNEL = """size N, M
require N >= 1 and M >= 1
input  fn: f32[(N + M) / 2]
input  loop: i16[N]
input  gain: f32
input  halves: bf16[N % 7 + 1]
output match: f32[M]
match[i] = gain * fn[min(i, (N + M) / 2 - 1)] + f32(loop[min(i, N - 1)]) + f32(halves[0])
"""
CPP = """#include "{name}.hpp"
#include <cstdio>
#include <vector>

int main()
{
    hbc::buffer<float> fn(7), match(8);
    std::vector<std::int16_t> loop(6, 2);
    const std::vector<std::uint16_t> halves(7, 0x3f80);
    for (std::size_t i = 0; i < 7; ++i) fn[i] = static_cast<float>(i);
    hbc::{name}(6, 8, {{fn.data(), fn.size()}}, loop, 2, halves, match);
    for (const float m : match) std::printf("%g ", m);
    try {
        hbc::{name}(6, 8, fn, std::span(loop).first(5), 2, halves, match);
    } catch (const hbc::length_error &e) {
        std::puts(e.what());
    }
    try {
        hbc::{name}(-1, 8, {{fn.data(), 3}}, {}, 2, std::span(halves), match);
    } catch (const hbc::kernel_error &e) {
        std::printf("%d %s\\n", e.code(), e.what());
    }
}
"""
RUST = """mod own;
fn main() {
    let kernel: Vec<f32> = (0..7).map(|i| i as f32).collect();
    let mut out = [0f32; 8];
    own::own(6, 8, &kernel, &[2; 6], 2.0, &[0x3f80; 7], &mut out).unwrap();
    for m in out { print!("{m} "); }
    println!("{}", own::own(6, 8, &kernel, &[2; 5], 2.0, &[0x3f80; 7], &mut out).unwrap_err());
    match own::own(-1, 8, &kernel[..3], &[], 2.0, &[0x3f80; 7], &mut out) {
        Err(own::Error::Kernel(code)) => println!("{code} {}", own::Error::Kernel(code)),
        other => panic!("{other:?}"),
    }
}
"""
SAID = """3 5 7 9 11 13 15 15 `loop` has 5 elements, and the sizes say 6
1001 size `N` is negative or above 2^40
"""


def emitted(folder: Path, name: str, *forms: str) -> None:
    (folder / f"{name}.hb").write_text(KERNEL)
    arguments = [
        str(folder / f"{name}.hb"),
        "--target",
        "c",
        "--schedule",
        "none",
        "-o",
        str(folder),
    ]
    arguments += [word for form in forms for word in ("--emit", form)]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", ["own", "buffer"])
def test_cpp(tmp_path: Path, name: str) -> None:
    """Also of a kernel that has the name of a class of the header."""
    compiler = next(filter(None, map(shutil.which, ("g++", "clang++"))), None)
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    emitted(tmp_path, name, "hpp", "obj")
    function = "buffer_" if name == "buffer" else name
    text = CPP.replace("hbc::{name}", f"hbc::{function}").replace("{name}", name)
    (tmp_path / "main.cpp").write_text(text.replace("{{", "{").replace("}}", "}"))
    (tmp_path / "twice.cpp").write_text(f'#include "{name}.hpp"\n#include "{name}.hpp"\n')
    options = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsanitize=undefined"]
    ran(compiler, *options, "main.cpp", "twice.cpp", f"{name}.o", "-lm", "-o", "main", at=tmp_path)
    assert ran("./main", at=tmp_path) == SAID


@pytest.mark.parametrize("edition", ["2021", "2024"])
def test_rust(tmp_path: Path, edition: str) -> None:
    rustc = shutil.which("rustc")
    if rustc is None:
        pytest.skip("there is no rustc")
    if edition == "2024" and rust_version(rustc) < (1, 85):
        pytest.skip("this rustc has no edition 2024")
    emitted(tmp_path, "own", "rs", "obj")
    (tmp_path / "main.rs").write_text(RUST)
    link = [
        "-C",
        "link-arg=own.o",
        "-C",
        "link-arg=-lm",
        "-C",
        f"linker={find_compiler().command[0]}",
    ]
    ran(rustc, "--edition", edition, "-D", "warnings", "main.rs", *link, "-o", "main", at=tmp_path)
    assert ran("./main", at=tmp_path) == SAID


def rust_version(rustc: str) -> tuple[int, ...]:
    words = ran(rustc, "--version", at=Path()).split()
    return tuple(int(part) for part in words[1].split(".")[:2])
