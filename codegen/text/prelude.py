"""The small C functions that generated code may need, written out only where they are used.

A name is a family and one or two element types: `div_i32` floors, `i32_from_f32` saturates.
"""

from __future__ import annotations

import re
from dataclasses import field
from string import Template

from hbc.codegen.text.float8 import FLOAT8
from hbc.codegen.text.functions import (
    ABS,
    BITS,
    DIV_SIGNED,
    DIV_UNSIGNED,
    EXACT,
    FIXED,
    FIXED_POINT,
    LEAST,
    LEAST_FLOAT,
    LEAST_NUMBER,
    MOD_FLOAT,
    MOD_SIGNED,
    NEG,
    OF_MACHINE,
    SATURATE_SIGNED,
    SATURATE_UNSIGNED,
    SATURATED,
    SHL,
    SHR,
    WRAP,
)
from hbc.codegen.text.spelling import c_type, int_type, unsigned_type
from hbc.codegen.text.writer import INDENT, wrap
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable
from hbc.ir.lang.types import DTYPES, DType, Kind

_TYPES = "|".join(DTYPES)
# None of ours begins with v, as the intrinsics of NEON do.
_NAME = re.compile(rf"\b(?:(?:{_TYPES})_from|(?!v)[a-z]+)_(?:{_TYPES})(?:_(?:{_TYPES}))?\b")

_WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
_DIVISION = {"div": "/", "mod": "%"}
_EXTREME = {"min": "<", "max": ">"}
_EXTREME_NUMBER = {"least": "<", "most": ">"}
_SATURATED = {"addsat": "+", "subsat": "-"}


@mutable
class Prelude:
    """The functions used so far, in the order in which C needs them. `machine`: whose instructions
    they may use (see `Target`)."""

    machine: str = ""
    texts: dict[str, str] = field(default_factory=dict)

    def use(self, name: str) -> str:
        """Marks the function (and those it calls) as used; returns its name."""
        if name not in self.texts:
            self.add(name, self._text(name))
        return name

    def add(self, name: str, text: str) -> str:
        """A function of a backend's own, after those of ours that its text calls."""
        if name not in self.texts:
            for used in dict.fromkeys(m.group(0) for m in _NAME.finditer(text)):
                if used != name:
                    self.use(used)
            self.texts[name] = _wrapped(text)
        return name

    def add_variant(self, name: str, text: str) -> str:
        """A function called NAME in its text; it gets this name, or with a number behind it if another
        function has that already."""
        variant, count = name, 1
        while self.texts.get(variant, own := _wrapped(text.replace("NAME", variant))) != own:
            count += 1
            variant = f"{name}_{count}"
        return self.add(variant, text.replace("NAME", variant))

    def _text(self, name: str) -> str:
        if (own := OF_MACHINE.get(self.machine, {}).get(name)) is not None:
            return own
        if name in FIXED | FLOAT8:
            return (FIXED | FLOAT8)[name]
        if match := re.fullmatch(rf"({_TYPES})_from_({_TYPES})", name):
            return _saturate(DTYPES[match.group(1)], DTYPES[match.group(2)])
        if match := re.fullmatch(rf"bits_({_TYPES})_({_TYPES})", name):
            t, s = DTYPES[match.group(1)], DTYPES[match.group(2)]
            return Template(BITS).substitute(t=t, s=s, T=c_type(t), S=c_type(s))
        family, _, type_name = name.rpartition("_")
        if type_name not in DTYPES:
            raise InternalError(f"codegen: no helper `{name}`")
        return _arithmetic(family, DTYPES[type_name])


def _wrapped(text: str) -> str:
    """The text with long lines broken."""
    lines = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        lines += wrap(line, indent + INDENT)
    return "\n".join(lines) + "\n"


def _arithmetic(family: str, t: DType) -> str:
    signed = t.kind is Kind.INT
    template = {
        "neg": NEG,
        "abs": ABS,
        "div": DIV_SIGNED if signed else DIV_UNSIGNED,
        "mod": MOD_FLOAT if t.is_float else MOD_SIGNED if signed else DIV_UNSIGNED,
        "shl": SHL,
        "shr": SHR,
        **dict.fromkeys(EXACT, FIXED_POINT),
        **dict.fromkeys(_SATURATED, SATURATED),
        **dict.fromkeys(_WRAPPING, WRAP),
        **dict.fromkeys(_EXTREME, LEAST_FLOAT if t.is_float else LEAST),
        **dict.fromkeys(_EXTREME_NUMBER, LEAST_NUMBER),
    }[family]
    operators = {**_WRAPPING, **_DIVISION, **_EXTREME, **_EXTREME_NUMBER, **_SATURATED}
    limit = int_type(t.bits, signed=signed).removesuffix("_t").upper()
    return Template(template.replace("$exact", EXACT.get(family, ""))).substitute(
        family=family, t=t, T=c_type(t), W=unsigned_type(max(t.bits, 32)), last=t.bits - 1,
        op=operators.get(family, ""), f="f" if t.bits == 32 else "", bits=t.bits,
        D=int_type(max(2 * t.bits, 32), signed=signed), half=1 << (t.bits - 2),
        MAX=f"{limit}_MAX", MIN=f"{limit}_MIN" if signed else "0",
    )  # fmt: skip


def _saturate(t: DType, s: DType) -> str:
    high = float(t.limits[1] + 1)
    signed = t.kind is Kind.INT
    limit = int_type(t.bits, signed=signed).removesuffix("_t").upper()
    return Template(SATURATE_SIGNED if signed else SATURATE_UNSIGNED).substitute(
        t=t, s=s, T=c_type(t), S=c_type(s), high=f"{high!r}{'f' if s.bits == 32 else ''}",
        MAX=f"{limit}_MAX", MIN=f"{limit}_MIN",
    )  # fmt: skip
