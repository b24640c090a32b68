"""Pins whose mistake it is said to be where a C compiler refuses a kernel's text."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbc.codegen.build.refused_text import Refused, refusal
from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa.load import describe, load_instructions, read_source
from hbc.ir.ground.diag import HbcError, InternalError
from hbc.ir.ground.source import Source
from hbc.ir.lang.instruction import Instruction

DOT = """instruction NAME(c: i32[16], a: u8[16, 4], b: i8[16, 4]) in zmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
EMIT
cost { latency 4; per_cycle 1 }
needs avx512f, avx512vnni
"""
FIRST = DOT.replace("NAME", "first").replace("EMIT", 'emit "{c} = frob({c}, {a}, {b});"')
SECOND = DOT.replace("NAME", "second").replace("EMIT", 'emit asm "grob {b}, {a}, {c}"')
TEXT = """\
static inline __m512i execute_first(__m512i c, __m512i a, __m512i b)
{
    c = frob(c, a, b);
    return c;
}
    __asm__("grob %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
"""


@pytest.fixture(scope="module")
def theirs() -> tuple[Instruction, ...]:
    builtin = [Source(str(path), read_source(path).text) for path in builtin_descriptions()]
    known = describe([*builtin, Source("mine.hb", FIRST + SECOND)])
    return tuple(i for i in known.instructions if i.name in ("first", "second"))


def said_of(instructions: tuple[Instruction, ...], said: str, file: str = "k.c") -> str:
    failure = refusal(Refused("the C compiler", file, TEXT, instructions, said))
    assert isinstance(failure, HbcError)
    (diagnostic,) = failure.diagnostics
    return diagnostic.render()


def test_the_line_says_which(theirs: tuple[Instruction, ...]) -> None:
    said = (
        "/tmp/x/k.c: In function 'execute_first':\n/tmp/x/k.c:3:9: error: no frob [-Werror=frob]\n"
    )
    assert said_of(theirs, said) == (
        "mine.hb:5:1: error: the C compiler refuses what is printed for `first`, "
        "`c = frob(c, a, b);`: no frob\n"
        '    emit "{c} = frob({c}, {a}, {b});"\n'
        "    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "hint: mend the template: it may use what <immintrin.h> declares for avx512f, avx512vnni, on "
        "operands of type `__m512i`; `hbc compile --emit c` writes the whole text"
    )


def test_assembly(theirs: tuple[Instruction, ...]) -> None:
    said = "k.c: Assembler messages:\nk.c:6: Error: no such instruction: `grob'\n"
    assert said_of(theirs, said) == (
        "mine.hb:12:1: error: the C compiler refuses what is printed for `second`, "
        '`__asm__("grob %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));`: no such instruction: `grob\'\n'
        '    emit asm "grob {b}, {a}, {c}"\n'
        "    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "hint: mend the template: it is assembler text for a processor with avx512f, avx512vnni; "
        "`hbc compile --emit c` writes the whole text"
    )


def test_a_header_that_is_called_from_the_line(theirs: tuple[Instruction, ...]) -> None:
    said = (
        "In file included from k.c:1:\n/usr/include/x.h:9:1: error: inlining failed in call\n"
        "k.c:3:9: note: called from here\n"
    )
    assert "printed for `first`, `c = frob(c, a, b);`: inlining failed" in said_of(theirs, said)


def test_nvcc_and_longer_names(theirs: tuple[Instruction, ...]) -> None:
    said = 'ak.cu(6): warning: odd\nk.cu(3): error: identifier "frob" is undefined\n'
    assert 'printed for `first`, `c = frob(c, a, b);`: identifier "frob"' in said_of(
        theirs, said, "k.cu"
    )


def test_no_line_says_which(theirs: tuple[Instruction, ...]) -> None:
    assert said_of(theirs, "cc: error: unrecognized command-line option '-mfrob'\n") == (
        "mine.hb:5:1: error: the C compiler refuses the code that uses `first`, `second`: "
        "unrecognized command-line option '-mfrob'\n"
        '    emit "{c} = frob({c}, {a}, {b});"\n'
        "    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "mine.hb:12:1: note: what `second` prints\n"
        '    emit asm "grob {b}, {a}, {c}"\n'
        "    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "hint: look at the template, at the header and the types of its place, at the flags of what it "
        "needs; without `--isa` none of it is used"
    )


def test_hbcs_own_text_is_a_bug() -> None:
    (own,) = (
        i
        for i in load_instructions(builtin_descriptions()).instructions
        if i.name == "vpdpbusd_zmm"
    )
    failure = refusal(Refused("the C compiler", "k.c", TEXT, (own,), "k.c:3:9: error: no frob\n"))
    assert isinstance(failure, InternalError)
    assert str(failure) == "the C compiler refuses k.c:\nk.c:3:9: error: no frob"


def test_the_descriptions_are_found_by_their_paths(tmp_path: Path) -> None:
    """A user's file with the name of one of hbc's is the user's."""
    path = tmp_path / builtin_descriptions()[0].name
    path.write_text(FIRST, encoding="utf-8")
    known = load_instructions([*builtin_descriptions(), path]).instructions
    (mine,) = (i for i in known if i.name == "first")
    assert str(path) in said_of((mine,), "k.c:3:9: error: no frob\n")
