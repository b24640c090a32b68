"""C functions that stand for intrinsics: there is one for each that can be printed, at every width.

That they do what the instructions do is what the tests of operators, casts and so on show, which execute
such functions too, and tests/codegen/isa.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hbc.codegen.build.soft_vectors import functions_for, soft_function, softened
from hbc.codegen.build.toolchain import build
from hbc.codegen.c.source import CSource
from hbc.codegen.x86.convert import AVX512_CASTS
from hbc.codegen.x86.ops import AVX512_ROWS
from hbc.codegen.x86.types import words
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES, I8

MOVES = [
    f"{stem}_{s}"
    for stem in ("unpacklo", "unpackhi", "permutexvar", "permutex2var", "mask_mov", "maskz_mov")
    for s in ("ps", "pd", "epi8", "epi16", "epi32", "epi64")
    if not (stem.startswith("unpack") and s == "ps")
]
NARROWED = [  # to the nearest that the narrower type has
    f"cvt{sign}epi{width}_epi{wanted}"
    for sign in ("s", "us")
    for width, wanted in ((16, 8), (32, 8), (32, 16), (64, 8), (64, 16), (64, 32))
]
MEMORY = [
    *(f"{stem}_{s}" for stem in ("loadu", "storeu") for s in ("ps", "pd", "si512")),
    *(
        f"{stem}_{s}"
        for stem in ("maskz_loadu", "mask_loadu", "mask_storeu")
        for s in ("ps", "pd", "epi8", "epi16", "epi32", "epi64")
    ),
    *(f"i{n}{stem}_{s}" for n in (32, 64) for stem in ("gather", "scatter") for s in ("ps", "pd")),
]


def printed() -> Iterator[str]:
    """What stands behind `_mm512_` in the names that tables make."""
    for (_, name), row in AVX512_ROWS.items():
        t = DTYPES.get(name, I8)
        if isinstance(row, str) and not name.startswith("mask"):
            text = row.format("a", "b", "c", **words(t, 512 // t.bits))
            yield from re.findall(r"_mm512_(\w+)\(", text)
    for cast in AVX512_CASTS.values():
        if isinstance(cast, str):
            yield from re.findall(r"_mm512_(\w+)\(", cast.format("a", p="_mm512"))
    yield from ("test_epi8_mask", "mask_test_epi8_mask", "maskz_set1_epi8")
    yield from (*MOVES, *NARROWED, *MEMORY)


@pytest.mark.parametrize("name", sorted(set(printed())))
def test_each_that_is_printed_has_one(name: str) -> None:
    text = soft_function(f"_mm512_{name}")
    assert text is not None
    assert f" soft_mm512_{name}(" in text


def test_all_of_them_compile(tmp_path: Path) -> None:
    called = "\n".join(f"/* _mm512_{name}() */" for name in sorted(set(printed())))
    source, target = softened(CSource("all", called, ""), TARGETS["avx512"])
    if platform.machine() != "x86_64":
        pytest.skip("the intrinsics that they are made of are those of x86-64")
    build(source, target, tmp_path / "all.o", "obj", extra=("-O1", "-Wall", "-Wextra", "-Werror"))


def test_what_avx2_has_stays() -> None:
    text = (
        "x = _mm256_add_epi32(a, _mm512_add_epi32(b, c)); _mm256_mask_i32gather_ps(a, p, b, c, 4);"
    )
    renamed = [line for line in functions_for(text).splitlines() if "#define _mm" in line]
    assert renamed == ["#define _mm512_add_epi32 soft_mm512_add_epi32"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("_mm512_frobnicate_ps(x)", "_mm512_frobnicate_ps"),
        ("_mm256_maskz_frobnicate_ps(k, x)", "_mm256_maskz_frobnicate_ps"),
        ('__asm__("vpdpbusd %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));', "vpdpbusd"),
    ],
)
def test_what_has_none_is_an_error(text: str, name: str) -> None:
    with pytest.raises(ToolError, match=f"this processor has no `{name}`"):
        functions_for(text)
