"""Calls that are right but unusual: padded rows, empty arrays, no memory left; what codes mean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from compiled import compiled, is_untouched, poisoned

TWICE = """
kernel twice
size   H, W
input  A: f32[H, W]
output O: f32[H, W]
O[y, x] = A[y, x] * 2
schedule s for avx512, avx2 { O.vectorize(x, 16, tail = mask) }
"""
PIXELS = """
kernel grey
size   H, W
input  A: u8[H, W, 3]
output O: u8[H, W]
O[y, x] = max(A[y, x, 0], max(A[y, x, 1], A[y, x, 2]))
"""
SCRATCH = """
kernel total
size   N
output O: f32[4]
reduce r in N
t[y, i] = f32(i + y)
sum[y]  = 0
sum[y] += t[y, r]
O[y] = sum[y]
schedule s for c { O.parallel(y); sum.compute_at(O, y); t.{where} }
"""
HUGE = 1 << 31  # elements, of 4 bytes


@pytest.fixture
def little_memory() -> Iterator[None]:
    """This process gets one GiB more and no further; systems that promise all memory that one asks
    for refuse that too."""
    resource = pytest.importorskip("resource")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("padding", [0, 1, 3, 64])
def test_rows_that_lie_apart(native_target: str, padding: int, tmp_path: Path) -> None:
    """Neither read nor written between the rows; input and output differ in their strides."""
    library = compiled(TWICE, tmp_path, native_target)
    for height, width in ((1, 1), (3, 7), (5, 33)):
        source = np.full((height, width + padding), np.nan, np.float32)
        source[:, :width] = np.arange(height * width).reshape(height, width)
        result = poisoned((height, width + 2 * padding))
        code = library.strided(height, width, source, width + padding, result, width + 2 * padding)
        assert code == 0
        assert np.array_equal(result[:, :width], source[:, :width] * 2)
        assert is_untouched(result[:, width:])


def test_strides_of_one_row_do_not_matter(tmp_path: Path) -> None:
    library = compiled(TWICE, tmp_path)
    source, result = np.ones(5, np.float32), poisoned((5,))
    assert library.strided(1, 5, source, -7, result, 0) == 0
    assert np.array_equal(result, source * 2)


@pytest.mark.parametrize("sizes", [(0, 5), (5, 0), (0, 0)])
def test_empty_arrays_need_no_memory(tmp_path: Path, sizes: tuple[int, int]) -> None:
    library = compiled(TWICE, tmp_path)
    assert library.dense(*sizes, None, None) == 0
    assert library.strided(*sizes, None, 0, None, 0) == 0


def test_strides_that_the_code_takes_for_constants(tmp_path: Path) -> None:
    """The pixels of an H x W x 3 picture are 3 apart; others are refused, not misread."""
    library = compiled(PIXELS, tmp_path)
    picture = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
    result = poisoned((2, 4), np.uint8)
    code = library.strided(2, 4, picture, 16, 4, result, 4)
    assert code > 0
    assert "3" in library.strerror(code)
    assert is_untouched(result)
    assert library.strided(2, 4, picture, 12, 3, result, 4) == 0
    assert np.array_equal(result, picture.max(2))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("where", ["compute_root()", "compute_at(O, y)"])
def test_no_memory_left(tmp_path: Path, where: str) -> None:
    """Also out of a parallel loop, in which each thread has its own scratch memory."""
    library = compiled(SCRATCH.replace("{where}", where), tmp_path)
    result = poisoned((4,))
    code = library.dense(HUGE, result)
    assert library.strerror(code) == "out of memory"
    assert library.dense(3, result) == 0
    assert result.tolist() == [3, 6, 9, 12]


def test_every_code_has_a_text_of_its_own(tmp_path: Path) -> None:
    library = compiled(TWICE, tmp_path)
    codes = [thousand + one for thousand in range(0, 11_000, 1000) for one in range(10)]
    texts = [library.strerror(code) for code in codes]
    known = [text for text in texts if text != "unknown error code"]
    assert library.strerror(0) == "no error"
    assert library.strerror(-1) == library.strerror(999_999) == "unknown error code"
    assert len(known) == len(set(known)) == 15
