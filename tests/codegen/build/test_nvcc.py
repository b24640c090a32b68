"""Pins what nvcc is asked and what is read from its answer; compiles where there is an nvcc."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from cuda_library import SCALE, cuda_of

from hbc.codegen.build import nvcc as module
from hbc.codegen.build.nvcc import (
    CUDA_SUFFIX,
    FLAGS,
    CudaOutput,
    Resources,
    build_cuda,
    checked_archs,
    find_nvcc,
    flags,
    resources,
)
from hbc.ir.ground.diag import UsageError

COLUMNS = """
kernel columns
size   H, W
input  I: f32[H, W]
output O: f32[H, W]
O[y, x] = I[y, x]
schedule s for cuda {
    O.tile(y, x, yo, xo, yi, xi, 128, 100).reorder(yo, xo, xi, yi).gpu_blocks(yo, xo).gpu_threads(xi)
    I.in(O).compute_at(O, xo).store_in(shared)
}
"""

REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'one' for 'sm_80'
ptxas info    : Function properties for one
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem, 368 bytes cmem[0]
ptxas info    : Compiling entry function 'two' for 'sm_90'
ptxas info    : Function properties for two
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers
"""


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """For tests that set NVCC, which is read once otherwise."""
    find_nvcc.cache_clear()
    module._version.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    find_nvcc.cache_clear()
    module._version.cache_clear()


@pytest.mark.parametrize("switch", ["-fmad=true", "--fmad=true", "-fmad true"])
def test_products_and_sums_in_one_by_nvcc(switch: str, named: pytest.MonkeyPatch) -> None:
    assert flags() == FLAGS
    named.setenv("NVCC", f"nvcc {switch}")
    find_nvcc.cache_clear()
    assert flags() == tuple(flag for flag in FLAGS if flag != "-fmad=false")


def test_what_is_kept_depends_on_the_words_of_nvcc(
    named: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names: list[str] = []

    def kept(name: str, _: object) -> Path:
        names.append(name)
        return tmp_path

    named.setattr(module, "kept_library", kept)
    named.setattr(module, "_version", lambda: "release 13.0")
    for words in ("nvcc", "nvcc -fmad=true", "nvcc -lineinfo"):
        named.setenv("NVCC", words)
        find_nvcc.cache_clear()
        module.build_cuda_cached(cuda_of(SCALE), "sm_80")
    named.undo()  # before the fixture clears what it replaced
    assert len(set(names)) == 3


def test_line_tables_name_the_file_beside(
    nvcc: tuple[str, ...], named: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And the instructions are those without tables."""
    made = []
    for words in ((), ("-lineinfo",)):
        named.setenv("NVCC", shlex.join([*nvcc, *words]))
        find_nvcc.cache_clear()
        out = tmp_path / "scale.ptx"
        build_cuda(cuda_of(SCALE), out, "ptx", ("sm_80",))
        made.append(out.read_text(encoding="utf-8"))
    plain, tables = made
    assert f'"{tmp_path}/scale.cu"' in tables
    assert operations(plain) == operations(tables)


def operations(ptx: str) -> list[str]:
    """The instructions of PTX, which end in a semicolon and begin after a tab."""
    return [line for line in ptx.splitlines() if line.startswith("\t") and line.endswith(";")]


def test_report() -> None:
    one = Resources("one", "sm_80", 255, 16, 20, 1024)
    assert resources(REPORT) == [one, Resources("two", "sm_90", 14, 0, 0, 0)]


def test_archs() -> None:
    assert checked_archs(["sm_80", "sm_90", "sm_80"]) == ("sm_80", "sm_90")


@pytest.mark.parametrize("arch", ["sm_70", "sm_8", "ampere", "", "compute_80"])
def test_archs_that_are_none(arch: str) -> None:
    with pytest.raises(UsageError):
        checked_archs([arch])


@pytest.mark.parametrize("arch", ["sm_999", "sm_80a"])
@pytest.mark.usefixtures("nvcc")
def test_archs_that_nvcc_does_not_know(arch: str, tmp_path: Path) -> None:
    for kind in ("cubin", "fatbin"):
        with pytest.raises(UsageError) as raised:
            build_cuda(cuda_of(SCALE), tmp_path / f"scale{CUDA_SUFFIX[kind]}", kind, (arch,))
        said = raised.value.diagnostics[0]
        assert f"`{arch}`" in said.message
        assert "sm_80," in (said.hint or "")


@pytest.mark.usefixtures("nvcc")
def test_dynamic_shared_memory_is_reported(tmp_path: Path) -> None:
    used = build_cuda(cuda_of(COLUMNS), tmp_path / "columns.cubin", "cubin", ("sm_80",))
    assert {r.function: r.shared for r in used} == {"columns_O": 51_200, "columns_O_64": 51_200}


@pytest.mark.parametrize("kind", list(CUDA_SUFFIX))
@pytest.mark.usefixtures("nvcc")
def test_builds(kind: CudaOutput, tmp_path: Path) -> None:
    archs = ("sm_80",) if kind in ("ptx", "cubin") else ("sm_80", "sm_90")
    out = tmp_path / f"scale{CUDA_SUFFIX[kind]}"
    used = build_cuda(cuda_of(SCALE), out, kind, archs)
    assert out.stat().st_size > 500
    expected = () if kind == "ptx" else archs  # PTX has no registers yet
    both = ("scale_C", "scale_C_64")  # indices of 32 bits and of 64
    assert {(r.arch, r.function) for r in used} == {(a, f) for a in expected for f in both}
    assert all(r.spills == 0 for r in used)
