"""Checks the features, register files and targets that instruction descriptions declare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.isa.properties import (
    BLOCK,
    NAME,
    NUMBER,
    STRING,
    WHOLE,
    Entry,
    Reports,
    read_properties,
)  # fmt: skip
from hbc.frontend.text import ast
from hbc.ir.ground.diag import did_you_mean
from hbc.ir.ground.source import Span
from hbc.ir.lang.compiler_flags import ALLOWED, is_allowed
from hbc.ir.lang.instruction import (
    Asynchrony,
    BulkCopies,
    Cost,
    InstructionTarget,
    Place,
    SharedRows,
)  # fmt: skip
from hbc.ir.lang.target import ARM, GPU, RISCV, X86, Bit, Feature
from hbc.ir.lang.types import DTYPES, TILES, Memory

MACHINES = (X86, ARM, GPU)
NO_PERMISSION = -1
# No path that leads out of the compiler's folders, and nothing that ends the `#include`.
HEADER = re.compile(r"(?:[A-Za-z_][\w-]*(?:\.[\w-]+)*(?:/[A-Za-z_][\w-]*(?:\.[\w-]+)*)*)?")
# Not the lists of registers of inline PTX: `{%0, %1}`.
PLACEHOLDER = re.compile(r"\{([^{}%]*)\}")

BIT = {
    "leaf": Entry(WHOLE),
    "subleaf": Entry(WHOLE, 0),
    "register": Entry(NAME, "none", ("eax", "ebx", "ecx", "edx", "none")),
    "bit": Entry(WHOLE),
}
FEATURE = {
    "machine": Entry(NAME, choices=(*MACHINES, RISCV)),
    "cpuinfo": Entry(STRING),
    "flag": Entry(STRING),
    "probe": Entry(BLOCK, entries=BIT),
    "xcr0": Entry(WHOLE, 0),
    "permission": Entry(WHOLE, NO_PERMISSION),
    "emulated": Entry(WHOLE, 0),
}
BULK = {
    "dims": Entry(WHOLE),
    "box": Entry(WHOLE),
    "align": Entry(WHOLE),
    "begin": Entry(STRING),
    "expect": Entry(STRING),
    "copy": Entry(STRING),
    "wait": Entry(STRING),
    "end": Entry(STRING),
}
SHARED = {
    "rows": Entry(WHOLE),
    "row_bytes": Entry(WHOLE),
    "unit": Entry(WHOLE),
    "operand": Entry(STRING),
    "fence": Entry(STRING),
    "bulk": Entry(BLOCK, {}, entries=BULK),
}
ASYNCHRONOUS = {
    "fence": Entry(STRING),
    "commit": Entry(STRING),
    "wait": Entry(STRING),
    "hold": Entry(STRING),
}
OF_BULK_COPIES = {
    "begin": ("signal", "arrivals"),
    "expect": ("signal", "bytes"),
    "copy": ("pointer", "map", "signal", "at"),
    "wait": ("signal", "turn"),
    "end": ("signal",),
}
PLACEHOLDERS = {
    "load": ("register", "pointer", "stride"),
    "store": ("register", "pointer", "stride"),
    "stream": ("register", "pointer", "stride"),
    "operand": ("pointer", "more", "across", "down"),
    "wait": ("most",),
    "hold": ("register",),
    "fence": (),
    "commit": (),
}
PLACE = {
    "machine": Entry(NAME, choices=MACHINES),
    "memory": Entry(NAME, choices=(Memory.REGISTER.value, *sorted(TILES))),
    "count": Entry(WHOLE),
    "rows": Entry(WHOLE, 1),
    "lanes": Entry(WHOLE, 1),
    "row_bytes": Entry(WHOLE),
    "header": Entry(STRING),
    "types": Entry(BLOCK, {}),
    "constraint": Entry(STRING, ""),
    "load": Entry(STRING, ""),
    "store": Entry(STRING, ""),
    "stream": Entry(STRING, ""),
    "shared": Entry(BLOCK, {}, entries=SHARED),
    "asynchronous": Entry(BLOCK, {}, entries=ASYNCHRONOUS),
}
_POWERS = ("rows", "row_bytes", "unit")
COST = {"latency": Entry(NUMBER), "per_cycle": Entry(NUMBER)}
HINTS = {
    "latency": "write the cycles until the result can be used: `latency 4`",
    "per_cycle": "write how many begin in a cycle: `per_cycle 0.5` for one in two cycles",
}


def check_feature(f: isa_ast.Feature, reports: Reports) -> Feature:
    v = read_properties(f.properties, FEATURE, f.name.span, reports)
    bit = v["probe"]
    register = "" if bit["register"] == "none" else bit["register"]
    if not register and v["machine"] == X86:
        reports.report("a probe of x86_64 names the register that CPUID leaves the bit in", f.span,
                       "write it, such as `register ebx`")  # fmt: skip
    if not is_allowed(v["machine"], v["flag"]):
        spans = {p.name.text: p.span for p in f.properties}
        allowed = ALLOWED.get(v["machine"])
        reports.report(
            f"`{v['flag']}` is no flag that a description may give to a compiler", spans["flag"],
            f"write {allowed}, or `flag \"\"`" if allowed else 'write `flag ""`: nvcc is given none',
        )  # fmt: skip
    permission = None if v["permission"] == NO_PERMISSION else v["permission"]
    return Feature(
        f.name.text, v["machine"], v["cpuinfo"], v["flag"],
        Bit(bit["leaf"], bit["bit"], bit["subleaf"], register), v["xcr0"], permission,
        v["emulated"],
    )  # fmt: skip


def check_place(p: isa_ast.Place, reports: Reports) -> Place:
    v = read_properties(p.properties, PLACE, p.name.span, reports)
    for name in v["types"]:
        if name not in ("int", "float") and name not in DTYPES:
            reports.report(f"there is no type `{name}`", p.span, did_you_mean(name, DTYPES))
    if not HEADER.fullmatch(v["header"]):
        spans_by_name = {q.name.text: q.span for q in p.properties}
        hint = 'write one of the compiler\'s: `header "immintrin.h"`'
        reports.report(f"`{v['header']}` names no header", spans_by_name.get("header"), hint)
    for name in ("count", "rows", "row_bytes", "lanes"):
        if v[name] < 1:
            reports.report(f"`{name}` is at least 1", p.span)
    if v["lanes"] == 1 and not v["types"] and not (v["load"] and v["store"]):
        reports.report(
            f"`{p.name.text}` has neither `types` nor `load` and `store`", p.name.span,
            'write `types { int "__m512i" }`, or the statements that fill and empty a register',
        )  # fmt: skip
    _check_texts(p.properties, reports)
    shared, asynchronous = v["shared"], v["asynchronous"]
    if shared and any(n < 1 or n & (n - 1) for n in (shared[x] for x in _POWERS)):
        reports.report("`rows`, `row_bytes` and `unit` are powers of two", p.span)
    if bulk := shared.pop("bulk", None):
        shared["bulk"] = BulkCopies(**bulk)
    return Place(
        p.name.text, v["machine"], Memory(v["memory"]), v["count"], v["rows"], v["row_bytes"],
        v["header"], tuple(v["types"].items()), v["constraint"], v["load"], v["store"],
        v["stream"], v["lanes"],
        SharedRows(**shared) if shared else None,
        Asynchrony(**asynchronous) if asynchronous else None,
    )  # fmt: skip


def _check_texts(
    properties: tuple[isa_ast.Property, ...], reports: Reports,
    placeholders: Mapping[str, tuple[str, ...]] = PLACEHOLDERS,
) -> None:  # fmt: skip
    """What stands in the C texts of a place."""
    for q in properties:
        if isinstance(q.value, tuple):
            own = OF_BULK_COPIES if q.name.text == "bulk" else placeholders
            _check_texts(q.value, reports, own)
        elif isinstance(q.value, ast.Text) and q.name.text in placeholders:
            check_placeholders(q.value, placeholders[q.name.text], reports)


def check_target(
    t: isa_ast.Target, features: Mapping[str, Feature], reports: Reports
) -> InstructionTarget:
    uses = named_features(t.uses, features, reports)
    return InstructionTarget(t.name.text, t.about.value, uses)


def check_cost(c: isa_ast.Cost, reports: Reports) -> Cost:
    v = read_properties(c.properties, COST, c.span, reports)
    spans = {p.name.text: p.span for p in c.properties}
    for name, hint in HINTS.items():
        if v[name] <= 0:
            reports.report(f"`{name}` is more than 0", spans.get(name, c.span), hint)
        elif not isfinite(v[name]):
            reports.report(f"`{name}` is not finite", spans.get(name, c.span), hint)
        elif not isfinite(1 / v[name]):
            reports.report(f"`{name}` is too close to 0", spans.get(name, c.span), hint)
    return Cost(float(v["latency"]), float(v["per_cycle"]))


def named_features(
    names: tuple[ast.Ident, ...], features: Mapping[str, Feature], reports: Reports
) -> tuple[Feature, ...]:
    """The features of these names, unknown ones reported."""
    known = []
    for name in names:
        if name.text in features:
            known.append(features[name.text])
        else:
            hint = did_you_mean(name.text, features) or "declare it: `feature NAME { ... }`"
            reports.report(f"there is no feature `{name.text}`", name.span, hint)
    return tuple(known)


def check_placeholders(text: ast.Text, known: tuple[str, ...], reports: Reports) -> set[str]:
    """The placeholders of a template; unknown ones are reported where they stand."""
    names = set()
    for m in PLACEHOLDER.finditer(text.value):
        if m[1] in known:
            names.add(m[1])
            continue
        before, within = text.value[: m.start()], m[0]  # quotes have a backslash in the source
        start = text.span.start + 1 + len(before) + before.count('"')
        span = Span(text.span.source, start, start + len(within) + within.count('"'))
        listed = f"it may name {', '.join(f'`{{{n}}}`' for n in known)}"
        hint = did_you_mean(m[1], known) or listed
        reports.report(f"`{m[0]}` is no placeholder of this template", span, hint)
    return names
