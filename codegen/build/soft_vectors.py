"""C functions in place of the AVX-512 and VNNI intrinsics that a kernel calls: for any x86-64 with AVX2.

`softened` puts before a kernel's text a function for each intrinsic that AVX2 does not have, made from its
name: `_mm512_mask_add_epi32` is a width, a mask, an operation and lanes (`soft_lanes`, `soft_moves`). They
are for executing code on a processor that lacks the instructions, with the same results, bit for bit;
their times mean nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hbc.codegen.build.amx_emulator import with_includes
from hbc.codegen.build.processor import SOFT
from hbc.codegen.build.soft_call import C_LANES, Operation, Register, function, lane_bits
from hbc.codegen.build.soft_lanes import Lanes, lanes_of
from hbc.codegen.build.soft_moves import NEW, PATTERNS, lane_type
from hbc.codegen.c.source import CSource
from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.lang.target import TARGETS, Target

_RUNTIME = "soft_vectors.h"  # of templates/

# gcc remarks on it that vectors of 512 bits are passed in memory, which only functions here do.
FLAGS = (*TARGETS["avx2"].flags, "-Wno-psabi")
_FLAGS = {f"-m{feature.replace('_', '')}" for feature in SOFT}

_CALLED = re.compile(r"\b_mm(?:256|512)?_[a-z0-9_]+(?=\()")
_NAME = re.compile(r"_mm(256|512)?_(?:(mask|maskz|mmask)_(?!blend))?(\w+)")
# AVX2's gathers have masks that are vectors; AVX-512's are called `mmask`.
_OWN_MASKS = re.compile(r"_mm(256)?_mask_i\d+gather_")
# Those that AVX2 surely has not.
_NEWER = re.compile(r"_mm512_|_mm(256)?_(mask|maskz|mmask)_(?!i\d+gather)|_mm\w*_dp\w+_(ps|epi32)$")
# Vector instructions as text, which kernels have with something else to choose from.
_ASSEMBLY = re.compile(r'__asm__\("(\w+)[^"]*" : "[+=][vx]"')
_EITHER = re.compile(r"^#if[^\n]*SOFT_VECTORS.*?^#endif", re.MULTILINE | re.DOTALL)
_LANEWISE = re.compile(r"(\w+?)_(ps|pd|ep[iu]\d+|[sp][si]\d+)")


def softened(source: CSource, target: Target) -> tuple[CSource, Target]:
    """The same code for a processor with AVX2, and the target that compiles it. ToolError as
    `functions_for`."""
    text = functions_for(source.text) + source.text
    flags = (*(flag for flag in source.flags if flag not in _FLAGS), *FLAGS)
    needs = tuple(need for need in target.needs if need not in SOFT)
    return (
        replace(source, text=text, flags=flags),
        replace(target, flags=(), needs=needs),
    )


def functions_for(text: str) -> str:
    """The C that goes before a text: what it calls then are functions. ToolError: it has assembly, or
    calls an intrinsic that no function stands for, as a user's own instructions may."""
    if assembly := _ASSEMBLY.search(_EITHER.sub("", text)):
        hint = f'give its description the intrinsic, too: emit clang "_mm..", emit gcc asm "{assembly[1]} .."'
        raise ToolError(
            Diagnostic(f"this processor has no `{assembly[1]}`, which is assembly", hint=hint)
        )
    names = sorted(set(_CALLED.findall(text)))
    made = {name: c for name in names if (c := soft_function(name)) is not None}
    for name in names:
        if name not in made and _NEWER.match(name):
            raise ToolError(
                Diagnostic(f"this processor has no `{name}`, and no function for it is known")
            )
    renamed = [f"#undef {name}\n#define {name} soft{name}\n" for name in made]
    return "\n".join([with_includes(_RUNTIME), *made.values(), "".join(renamed), ""])


def soft_function(name: str) -> str | None:
    """The C function `soft` + name; None where AVX2 has the intrinsic, or there is no such function."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    bits, masking, rest = int(match[1] or 128), match[2] or "", match[3]
    if bits < 512 and _OWN_MASKS.match(name):
        return None
    masking = masking.replace("mmask", "mask")
    wide = bits == 512 or bool(masking)
    for kind, pattern, make in PATTERNS:
        if m := re.fullmatch(pattern, rest):
            return function(f"soft{name}", make(m, bits), masking) if wide or kind == NEW else None
    return _lanewise(name, bits, masking, rest)


def _lanewise(name: str, bits: int, masking: str, rest: str) -> str | None:
    match = _LANEWISE.fullmatch(rest)
    if match is None:
        return None
    stem, suffix = match[1], match[2]
    t = lane_type(suffix)
    row = lanes_of(stem, t)
    if row is None or not (bits == 512 or masking or t in row.own.split()):
        return None
    if masking == "mask" and len(row.operands) == 3:
        masking = "first"
    return function(f"soft{name}", _operation(row, t, bits), masking)


def _operation(row: Lanes, t: str, bits: int) -> Operation:
    n, width = bits // lane_bits(t), lane_bits(t)
    operands: list[Register | str] = [
        Register(letter, f"i{width}" if letter == "j" else t, n) for letter in row.operands
    ]
    if row.immediate:
        operands.append("unsigned n")
    signed = t[0] == "i"
    words = {
        "T": C_LANES[t], "U": f"uint{width}_t", "N": str(n), "B": str(width), "S": str(128 // width),
        "M": str((1 << (width - signed)) - 1), "L": str(-signed << (width - 1)),
    }  # fmt: skip
    value = re.sub(r"\b[TUNBSML]\b", lambda m: words[m[0]], row.value)
    return Operation(t, n, operands, re.sub(r"_T\b", f"_{t}", value))
