"""Pins the entry points of CUDA files: host arrays, device memory, strides, and what is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from cuda_library import SCALE, CudaLibrary, cuda_of, library, poisoned


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> CudaLibrary:
    return library(SCALE, tmp_path_factory.mktemp("scale"))


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def test_types_of_the_host_are_its_own(tmp_path: Path) -> None:
    """Two kernels in one program must not share constructors, which keep errors for their own file."""
    CudaLibrary(cuda_of(SCALE), tmp_path, "-O0", "-fvisibility=default")
    command = ["nm", "-g", "--defined-only", tmp_path / "scale.so"]
    names = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert "scale_cuda_error" in names
    assert "device_memory" not in names
    assert "launched" not in names


@pytest.mark.parametrize(("m", "n"), [(1, 1), (8, 32), (13, 70)])
@pytest.mark.parametrize("stream", [[], [None]])
def test_dense(scale: CudaLibrary, m: int, n: int, stream: list[None]) -> None:
    """From host arrays, and from device memory on the default stream."""
    a, c = numbers(m, n), poisoned((m, n))
    assert scale.call("_device" if stream else "", m, n, a, c, *stream) == 0
    np.testing.assert_array_equal(c, np.float32(2) * a + np.float32(1))


@pytest.mark.parametrize("stream", [[], [None]])
def test_rows_that_lie_apart(scale: CudaLibrary, stream: list[None]) -> None:
    """What lies between the rows of an output is as it was."""
    a, c = numbers(13, 50), poisoned((13, 64))
    suffix = "_device_strided" if stream else "_strided"
    assert scale.call(suffix, 13, 37, a, 50, c, 64, *stream) == 0
    np.testing.assert_array_equal(c[:, :37], np.float32(2) * a[:, :37] + np.float32(1))
    assert (np.ascontiguousarray(c[:12, 37:]).view(np.uint8) == 0xA5).all()


@pytest.mark.parametrize("stream", [[], [None]])
def test_nothing_to_do(scale: CudaLibrary, stream: list[None]) -> None:
    suffix = "_device" if stream else ""
    assert scale.call(suffix, 0, 5, None, None, *stream) == 0


@pytest.mark.parametrize(
    ("what", "arguments"),
    [
        ("size `M` is negative", lambda a, c: (-1, 4, a, c)),
        ("array `A` is null", lambda a, c: (4, 4, None, c)),
        ("array `C` is not aligned", lambda a, c: (4, 3, a, c.view(np.uint8).reshape(-1)[1:])),
        ("overlaps `A`", lambda a, c: (4, 4, a, a)),
        ("more bytes than", lambda a, c: (1 << 40, 1 << 40, a, c)),
    ],
)
@pytest.mark.parametrize("suffix", ["", "_device"])
def test_refused(scale: CudaLibrary, suffix: str, what: str, arguments: object) -> None:
    """Before anything is written, with the codes of C."""
    assert callable(arguments)
    a, c = numbers(4, 4), poisoned((4, 4))
    before = a.copy()
    passed = arguments(a, c)
    code = scale.call(suffix, *passed, *([None] if suffix else []))
    assert code != 0
    assert what in scale.text("_strerror", code)
    assert (c.view(np.uint8) == 0xA5).all()
    np.testing.assert_array_equal(a, before)


def test_a_grid_that_is_too_large(scale: CudaLibrary) -> None:
    """The launch is refused in words, not tried: a grid's second dimension has 65535 blocks at most."""
    rows = 8 * 65_536
    a = np.zeros((rows, 1), np.float32)
    c = poisoned((rows, 1))
    code = scale.call("_device", rows, 1, a, c, None)
    assert "CUDA refused" in scale.text("_strerror", code)
    assert "65536" in scale.text("_cuda_error")
    assert (c.view(np.uint8) == 0xA5).all()


def test_the_header_is_c(tmp_path: Path) -> None:
    """Callers need no CUDA headers."""
    from cuda_library import cuda_of

    from hbc.codegen.build.run_tool import run_tool
    from hbc.codegen.build.toolchain import find_compiler

    (tmp_path / "scale.h").write_text(cuda_of(SCALE).header)
    text = tmp_path / "main.c"
    text.write_text('#include "scale.h"\nint main(void) { return scale(0, 0, 0, 0); }\n')
    command = [*find_compiler().command, "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", str(text)]
    done = run_tool([*command, "-o", str(tmp_path / "main.o")])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("element", "function"), [("f32", "rsqrtf("), ("f64", "rsqrt(")])
def test_reciprocal_square_roots(tmp_path: Path, element: str, function: str) -> None:
    """Processors take a root and a division for them; GPUs have a function."""
    text = (
        f"kernel roots\nsize N\ninput A: {element}[N]\noutput C: {element}[N]\nC[i] = rsqrt(A[i])"
    )
    source = cuda_of(text)
    assert function in source.text
    a = np.abs(numbers(300)).astype(element.replace("f", "float")) + 1
    c = np.zeros_like(a)
    assert CudaLibrary(source, tmp_path).call("", 300, a, c) == 0
    np.testing.assert_allclose(c, 1 / np.sqrt(a), rtol=5e-7)
