"""One kernel of a C file as printed: what it computes, its entry points and its part of the header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from math import prod

from hbc.codegen.c.abi import Abi, header_part, make_abi, ordered, overlap_pairs, strerror
from hbc.codegen.c.entry import MEASURE, OVERLAP, Call, dense_entry, strided_entry
from hbc.codegen.c.gapless import without_gaps
from hbc.codegen.c.machines import printers_of
from hbc.codegen.c.packed import packed_entries, packed_header, packing_call
from hbc.codegen.c.repeats import with_loops
from hbc.codegen.c.stmt import may_fail, statement
from hbc.codegen.c.table_bytes import MOST_WRITTEN, table_bytes
from hbc.codegen.plan.alike import alike
from hbc.codegen.plan.named_sizes import named_sizes
from hbc.codegen.plan.tile_plan import plan_tiles
from hbc.codegen.text.names import Scope
from hbc.codegen.text.prelude import Prelude
from hbc.codegen.text.routines import print_functions
from hbc.codegen.text.spelling import value_type
from hbc.codegen.text.unit import Buffer, Unit
from hbc.codegen.text.writer import Writer
from hbc.ir.beforehand.split import Split, split_constants
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel, Table
from hbc.ir.lang.target import TARGETS, Feature, Target
from hbc.ir.lang.walk import names_read, nodes_of


@record
class Body:
    """One kernel of a C file. `fallback`: what it does where the processor lacks something; `alike`: see
    `make_abi`."""

    kernel: Kernel
    fallback: Kernel | None = None
    alike: tuple[Kernel, ...] = ()


@mutable
class Shared:
    """What the kernels of a file have in common: names of the file, functions that they call, tables by what
    is in them."""

    target: Target
    features: Sequence[Feature]
    helpers: Prelude
    plain_helpers: Prelude
    scope: Scope = field(default_factory=Scope)
    tables: dict[object, tuple[Table, Buffer]] = field(default_factory=dict)

    def table(self, t: Table, name: str) -> Buffer:
        """The array of the table; one of the same name and content serves."""
        key = (t.name, t.element.name, t.shape, _content(t))
        if key not in self.tables:
            self.tables[key] = (t, Buffer(self.scope.fresh(name), t.element, extent=prod(t.shape)))
        return self.tables[key][1]


def _content(t: Table) -> str | bytes:
    """Equal for equal values alone: -0.0 is not 0.0."""
    return repr(t.values) if len(t.values) <= MOST_WRITTEN else table_bytes(t)


@record
class Part:
    """A kernel as printed: `out` for processors that have the features, `entries` for any, where there are
    features to ask for. `own`: the functions that its entry points call."""

    abi: Abi
    out: Writer
    entries: Writer
    own: tuple[str, ...]
    declared: Writer
    parallel: bool
    packs: tuple[str, ...]


def part_of(body: Body, shared: Shared, several: bool) -> Part:
    kernel, target, features = body.kernel, shared.target, shared.features
    fallback = body.fallback if features else None
    scope = shared.scope
    prefix = f"{kernel.name}_" if several else ""
    buffers = {t.name: shared.table(t, f"{prefix}{t.name}") for t in _used_tables(kernel, fallback)}
    scope.push()
    asked = () if fallback else features
    abi = make_abi(kernel, scope, fallback, asked, alike=body.alike)
    buffers |= {
        a.name: Buffer(abi.names[a.name], a.element, extent=a.known_extent)
        for a in kernel.arguments
        if not a.is_scalar
    }
    main = _unit(kernel, target, abi, scope, buffers, shared.helpers)
    split = None if fallback else split_constants(kernel)
    if split is None:
        call, calls = _computing(abi, kernel, "compute", main), {}
    else:
        calls = _computing_apart(abi, split, main)
        call = packing_call(abi, split, calls, main)
    rest, plain = main, None
    if features:
        rest = _unit(fallback or kernel, TARGETS["c"], abi, scope, buffers, shared.plain_helpers)
        rest.parallel = main.parallel
        if fallback:
            plain = _computing(abi, fallback, "plain", rest)
    call = without_gaps(abi, call, rest)
    # Who calls one of several wants to know first that the processor lacks something.
    _entries(abi, call, plain, bool(features), rest, bool(features and body.alike))
    packed: list[str] = []
    if split is not None:
        packed = packed_header(abi)
        packed_entries(abi, split, calls, bool(features), rest)
    scope.pop()
    own = (MEASURE, *([OVERLAP] if overlap_pairs(kernel) else []))
    packs = () if split is None else tuple(made.input.name for made in split.packs)
    declared = header_part(abi, packed=packed)
    return Part(abi, main.out, rest.out, own, declared, rest.parallel, packs)


def _unit(
    kernel: Kernel, target: Target, abi: Abi, scope: Scope, buffers: Mapping[str, Buffer],
    helpers: Prelude,
) -> Unit:  # fmt: skip
    """For printing the kernel's body; both bodies of a file name arrays and tables alike."""
    printers = printers_of(target.machine, target.vector_bits)
    assert printers is not None  # emit_together refuses the target
    return Unit(
        target, abi.by_message, frozenset(names_read(kernel.body)), scope=scope, buffers=dict(buffers),
        prelude=helpers, printers=printers,
        instructions={i.name: i for i in kernel.instructions},
    )  # fmt: skip


def _computing(abi: Abi, k: Kernel, suffix: str, unit: Unit) -> Call:
    """Prints the function that does the work of `k`, on checked arguments."""
    fails = may_fail(k.body)
    whole = named_sizes(k.body)
    unit.read_names |= names_read(whole)
    unit.tiles = plan_tiles(with_loops(whole, unit), k.instructions, k.usual_sizes)
    unit.calls = alike(unit.tiles.body)
    out, body = unit.out, Writer(depth=1)
    unit.scope.push()
    unit.out = body
    statement(unit.tiles.body, unit)
    unit.out, unit.calls = out, {}
    print_functions(unit, statement)
    unit.scope.pop()
    said = body.names()  # what no live lane reads is not printed
    parameters, arguments = [], []
    for s in k.sizes:
        if abi.names[s.name] in said:
            parameters.append(f"int64_t {abi.names[s.name]}")
            arguments.append(abi.names[s.name])
    for a in ordered(k):
        if abi.names[a.name] in said:
            by_value = f"{value_type(a.element)} {abi.names[a.name]}"
            parameters.append(by_value if a.is_scalar else abi.array(a, restrict=True))
            arguments.append(abi.names[a.name])
        for stride in abi.strides(a):
            if stride in said:
                parameters.append(f"int64_t {stride}")
                arguments.append(stride)
    what = "computation" if suffix == "compute" else "same without special instructions"
    out.raw(f"/* The {what}, on arguments that have been checked. */")
    out.function(f"static {'int' if fails else 'void'} {k.name}_{suffix}", parameters, "")
    with out.braces():
        if fails and unit.jumps:
            out.line("int status = 0;")
        out.lines += body.lines
        if body.lines[-2:] == ["    if (status != 0)", "        return status;"]:
            out.lines[-2:] = ["    return status;"]
        elif fails:
            out.line("return 0;")
    return Call(f"{k.name}_{suffix}({', '.join(arguments)})", fails)


def _computing_apart(abi: Abi, split: Split, unit: Unit) -> dict[str, Call]:
    """Prints the functions that do the work for constant inputs, and the rest of it, by the names of these
    kernels."""
    kept = [a for made in split.packs for a in made.kept]
    names = {a.name: unit.scope.fresh(a.name) for a in kept}
    unit.buffers |= {a.name: Buffer(names[a.name], a.element, extent=a.known_extent) for a in kept}
    stride_names = abi.stride_names | {a.name: [] for a in kept}
    abi.names.update(names)
    calls = {}
    for part in (*(made.kernel for made in split.packs), split.rest):
        unit.read_names, unit.jumps = frozenset(names_read(part.body)), 0
        own = replace(abi, kernel=part, stride_names=stride_names)
        calls[part.name] = _computing(own, part, "compute", unit)
        unit.out.blank()
    return calls


def _entries(
    abi: Abi, call: Call, plain: Call | None, probed: bool, unit: Unit, probed_first: bool
) -> None:
    unit.out.blank()
    strided_entry(abi, call, plain, probed, unit, probed_first)
    unit.out.blank()
    dense_entry(abi, unit)
    unit.out.blank()
    strerror(abi, unit.out)


def _used_tables(k: Kernel, fallback: Kernel | None) -> list[Table]:
    tables: dict[str, Table] = {}
    for one in (k, *([fallback] if fallback else [])):
        read = {n.buffer for n in nodes_of(one.body, ir.Load, ir.Prefetch)}
        tables |= {t.name: t for t in one.tables if t.name in read}
    return list(tables.values())
