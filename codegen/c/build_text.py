"""How emitted C says to be built: the command in its first comment, and the options in it."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.ir.lang.target import Target

# Contraction is off because a*b+c is already spelled as fma where the target has it: every compiler
# then gives the same bits. Nothing reads errno or the exception flags, and without them sqrt is one
# instruction and comparisons vectorize.
OPTIONS = ("-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
# gcc carries loads from one iteration to the next where it can; with 32 accumulators live that means
# spills: a 4 x 4 block of a convolution with 8 taps unrolled runs 3 times slower with it (353 stack
# accesses in the loop against 1, gcc 12).
GCC_OPTIONS = ("-fno-predictive-commoning",)
MSVC_OPTIONS = ("/std:c11", "/O2", "/fp:precise")
WIDTH = 92  # of lines of the command
LICENCE = "This file is yours, without conditions."


def build_comment(
    name: str,
    target: Target,
    flags: Sequence[str],
    parallel: bool,
    compiler: Sequence[str] = ("cc",),
) -> str:
    """The lines after the first of the file's comment: the command, threads and the licence."""
    options = [*OPTIONS, *dict.fromkeys((*target.flags, *flags))]
    threads = ["-fopenmp"] if parallel else []
    lines = [
        *_command([*compiler, *options, *threads, "-c", f"{name}.c"]),
        f"gcc: add {' '.join(GCC_OPTIONS)}. Programs link with -lm"
        + (" and -fopenmp:" if parallel else "."),
        *(["without it one thread does all the work."] if parallel else []),
        LICENCE,
    ]  # fmt: skip
    return "".join(f"\n * {line}" for line in lines)


def msvc_comment(name: str, target: Target, flags: Sequence[str], parallel: bool) -> str:
    """The same for Microsoft's compiler."""
    every = (*target.flags, *flags)
    wide = "AVX512" if any("avx512" in f for f in every) else "AVX2" if "-mavx2" in every else ""
    options = [
        *MSVC_OPTIONS,
        *([f"/arch:{wide}"] if wide else []),
        *(["/openmp"] if parallel else []),
    ]
    threads = ["Without /openmp one thread does all the work."] if parallel else []
    lines = [*_command(["cl", *options, "/c", f"{name}.c"]), *threads, LICENCE]
    return "".join(f"\n * {line}" for line in lines)


def _command(words: Sequence[str]) -> list[str]:
    """In lines as a shell reads it, without the stars."""
    from textwrap import wrap  # here, since it takes 2 ms

    wrapped = wrap(f"Build: {' '.join(words)}", WIDTH, subsequent_indent="  ", break_long_words=False,
                   break_on_hyphens=False)  # fmt: skip
    return [*(f"{line} \\" for line in wrapped[:-1]), wrapped[-1]]
