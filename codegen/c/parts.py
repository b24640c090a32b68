"""The C file around the functions: includes, helpers, tables; which part any processor can execute."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hbc.codegen.c.probe import TEMPLATES, baseline
from hbc.codegen.c.table_bytes import MOST_WRITTEN, with_bytes, write_around
from hbc.codegen.c.work import DEFINITION, MACRO
from hbc.codegen.text.prelude import Prelude
from hbc.codegen.text.spelling import c_type, initialiser
from hbc.codegen.text.unit import Buffer
from hbc.codegen.text.writer import Writer
from hbc.codegen.x86.tile_wrappers import uses_tiles, wrappers
from hbc.ir.lang.kernel import Table
from hbc.ir.lang.target import Feature

# What each header is included for.
_MATH = (
    "acos asin atan ceil copysign cos exp exp2 fabs floor fma fmod log rint round sin sqrt tan tanh"
).replace(" ", "|")
_USES = {
    "math": rf"\b(?:(?:{_MATH})f?\(|NAN\b|INFINITY\b)",
    "stdbool": r"\b(?:bool|true|false)\b",
    "stddef": r"\b(?:size_t|NULL)\b",
    "stdint": r"\bu?int(?:\d+|ptr)_t\b",
    "stdlib": r"\b(?:free|aligned_alloc)\(",
    "string": r"\bmem(?:cpy|set)\(",
    "malloc": r"\b_aligned_(?:malloc|free)\(",
    "cpuid": r"\b__get_cpuid\w*\(",
    "sys/auxv": r"\bgetauxval\(",
    "arm_neon": r"\bv[a-z]\w*_[suf](?:8|16|32|64)\(",
    "riscv_vector": r"\b__riscv_v",
    "immintrin": r"\b_{1,2}m|\b_(?:bzhi|pdep|cvt)\w*\(",
}
_IS_MSVC = "defined(_MSC_VER) && !defined(__clang__)"
# Where alone a header is and is needed.
_WHERE = {
    "sys/auxv": "defined(__linux__)", "malloc": "defined(_WIN32)",
    "cpuid": "!defined(_MSC_VER) || defined(__clang__)",
}  # fmt: skip
# What gcc and clang have built in, for Microsoft's compiler: by what the text is seen to use.
_OF_MSVC = {
    r"\b__get_cpuid": "msvc_cpuid.h",
    r"\b__atomic_": "msvc_atomic.h",
    r"\b__builtin_": "msvc_builtin.h",
    r"\b_cvts[hs]_s[hs]\(": "msvc_half.h",
}


def plain_part(helpers: Prelude, others: Prelude, functions: Writer, own: Sequence[str],
               features: Sequence[Feature]) -> Writer:  # fmt: skip
    """What runs on any processor, `functions` after their helpers and texts of their `own`. Helpers
    that the rest of the file has too get names of their own, because they are compiled otherwise."""
    part = Writer()
    begin, end = baseline(features)
    part.raw("/* From here on: what any such processor executes. */")
    part.raw(begin)
    for text in (*helpers.texts.values(), *own):
        part.blank()
        part.raw(text)
    part.blank()
    part.lines += functions.lines
    part.blank()
    part.raw(end)
    twice = helpers.texts.keys() & others.texts.keys()
    if twice:
        names = re.compile(rf"\b(?:{'|'.join(sorted(twice))})\b")
        part.lines = [names.sub(r"\g<0>_plain", line) for line in part.lines]
    part.lines = _on_one_thread(part.lines)
    return part


def _on_one_thread(lines: Sequence[str]) -> list[str]:
    """clang compiles the body of a parallel loop with the options of the file: there the loop is
    left to one thread."""
    guarded: list[str] = []
    for line in lines:
        if line.lstrip().startswith("#pragma omp"):
            guarded += ["#ifndef __clang__", line, "#endif"]
        else:
            guarded.append(line)
    return guarded


def c_file(
    about: str, name: str, texts: Sequence[str], tables: Sequence[tuple[Table, Buffer]],
    functions: Sequence[Writer], parallel: bool, headers: Sequence[str] = (),
) -> str:  # fmt: skip
    """The whole file: `texts` and `tables`, then the functions. `headers` are included besides those
    that the text is seen to need."""
    code = Writer()
    for text in texts:
        code.blank()
        code.raw(text)
    data: dict[str, str] = {}
    for table, buffer in tables:
        if len(table.values) > MOST_WRITTEN:
            line, rows = write_around(table, buffer, code)
            data[line] = rows
        else:
            _table(table, buffer, code)
    for part in functions:
        code.blank()
        code.lines += part.lines
    body = code.text()
    out = Writer()
    out.raw(f"/* {about} */")
    out.raw(f'#include "{name}.h"')
    out.blank()
    for header, use in _USES.items():
        if re.search(use, body):
            include = f"#include <{header}.h>"
            where = _WHERE.get(header)
            out.raw(include if where is None else f"#if {where}\n{include}\n#endif")
    _for_msvc(body, out)
    own = wrappers(body) if uses_tiles(body) else ""
    for header in headers:
        include = f"#include <{header}>"
        if include not in own and include not in out.lines:
            out.raw(include)
    out.blank()
    if own:
        out.raw(own)
        out.blank()
    if parallel:
        out.raw("#ifndef _OPENMP  /* then one thread does all the work */")
        out.raw('#pragma GCC diagnostic ignored "-Wunknown-pragmas"\n#endif')
        if MACRO in body:
            out.raw(DEFINITION)
        out.blank()
    return out.text() + with_bytes(body, data)


def _for_msvc(body: str, out: Writer) -> None:
    """What the body needs there, and gcc and clang have built in."""
    needed = [file for use, file in _OF_MSVC.items() if re.search(use, body)]
    if not needed:
        return
    out.raw(f"#if {_IS_MSVC}\n#include <intrin.h>")
    for file in needed:
        out.raw((TEMPLATES / file).read_text(encoding="ascii").rstrip())
    out.raw("#endif")


def _table(table: Table, buffer: Buffer, out: Writer) -> None:
    """The values row by row."""
    out.blank()
    values = table.values or (0,)
    row = table.shape[-1] if table.shape and table.values else len(values)
    t = c_type(table.element)
    with out.braces(f"static const _Alignas(64) {t} {buffer.text}[{len(values)}] ="):
        for start in range(0, len(values), row):
            texts = [initialiser(v, table.element) for v in values[start : start + row]]
            out.line(", ".join(texts) + ",")
    out.lines[-1] += ";"
