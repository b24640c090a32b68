"""Lowering: from the checked pipeline and one of its schedules to a kernel of loops over buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hbc.frontend.directives.memories import refuse_memories
from hbc.frontend.directives.schedule import apply_schedule
from hbc.frontend.lowering.bound_checks import with_bound_checks
from hbc.frontend.lowering.by_value import scalar_checks, scalar_ranges, scalars_by_value
from hbc.frontend.lowering.device_bounds import with_device_bounds
from hbc.frontend.lowering.lone_threads import lone_threads
from hbc.frontend.lowering.realize import realize
from hbc.frontend.lowering.run_ahead import run_ahead
from hbc.frontend.lowering.table_values import tables_of
from hbc.frontend.lowering.trimmed import trimmed
from hbc.frontend.plans.inline import inline_funcs
from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.plans.plan import Inline, Plan, Root
from hbc.frontend.program.by_size import where_taken
from hbc.frontend.program.funcs import Image, Pipeline, Schedule
from hbc.frontend.regions.boxes import Site
from hbc.frontend.regions.fold import UnfoldedError
from hbc.frontend.regions.in_place import in_place
from hbc.frontend.regions.padding import Extents, UnpaddedError, padding
from hbc.frontend.regions.program import Program, Scope
from hbc.frontend.regions.regions import whole_image
from hbc.frontend.regions.storage import Storage, argument_storage, dense_checks, table_storage
from hbc.frontend.regions.value_ranges import value_ranges
from hbc.ir.algebra.bounds import Interval
from hbc.ir.algebra.facts import implied
from hbc.ir.algebra.linear import Linear, linear, shifted
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Argument, Check, Gapless, Kernel, Size
from hbc.ir.lang.launches import check_launches
from hbc.ir.lang.target import GPU, Target


def lower(
    pipeline: Pipeline, schedule: Schedule | None, target: Target, trace: bool = False
) -> Kernel:
    """The kernel as scheduled: every Func placed, every access a load; VECTOR and UNROLL loops are
    still loops. Raises HbcError for a schedule that cannot be applied. With `trace` steps of the Funcs that
    the schedule names, or of all, store to `trace_buffers` too, for the interpreter alone."""
    refuse_memories(schedule, target)
    pipeline = scalars_by_value(where_taken(pipeline, schedule))
    given = pipeline  # as the file has its arrays
    pipeline, scheduled = apply_schedule(pipeline, schedule, target.machine == GPU)
    plan = inline_funcs(scheduled)
    arguments = _arguments(given)
    tables = tables_of(pipeline, target.machine == GPU)
    outputs = {name: whole_image(o) for name, o in pipeline.output_funcs.items()}
    names = frozenset(
        [s.name for s in pipeline.sizes] + [i.name for i in pipeline.inputs if i.is_scalar]
    )
    arrays = frozenset(o.name for o in pipeline.outputs)
    program = Program(_used(plan, pipeline), target, outputs, names, _known(given), arrays)
    if trace:
        program = replace(program, traced=_traced(program.plan))
    if target.machine == GPU:
        program = replace(program, padding=padding(program.plan, _extents(pipeline)))
    overlaid = {name for pair in pipeline.in_place.items() for name in pair}
    storages: dict[str, Storage] = {
        image.name: argument_storage(image, argument, image.name in overlaid)
        for image, argument in zip((*pipeline.inputs, *pipeline.outputs), arguments, strict=True)
        if not image.is_scalar
    }
    for table in tables:
        storages[table.name] = table_storage(table.name, table.element, table.shape)
    sizes = _size_ranges(given)
    ranges = {**sizes, **scalar_ranges(pipeline), **value_ranges(pipeline, tables, sizes)}
    scope = Scope(ranges, storages, names | storages.keys())
    program, body = _realized(program, _extents(pipeline), scope)
    body = run_ahead(body)
    body = trimmed(body, program.roots)
    if target.machine != GPU:
        body = with_bound_checks(pipeline, scope, body)
    checks = [Check(r.condition, r.message) for r in pipeline.requirements]
    checks += scalar_checks(pipeline)
    for image, argument in zip((*given.inputs, *given.outputs), arguments, strict=True):
        checks += dense_checks(image, argument)
    kernel = Kernel(
        pipeline.name,
        tuple(Size(s.name, s.fixed, pipeline.usual.get(s.name)) for s in pipeline.sizes),
        arguments,
        tables,
        tuple(dict.fromkeys([*checks, *program.checks])),
        body,
        gapless=_gapless(pipeline, arguments),
    )
    if target.machine != GPU:
        return in_place(kernel, pipeline)
    check_launches(kernel)
    kernel = lone_threads(kernel)
    body = with_device_bounds(pipeline, scope, kernel.body)
    return in_place(replace(kernel, body=body), pipeline)


def _traced(plan: Plan) -> frozenset[str]:
    computed = {name: f for name, f in plan.items() if not isinstance(f.compute, Inline)}
    return frozenset(name for name, f in computed.items() if f.traced) or frozenset(computed)


def _extents(pipeline: Pipeline) -> Extents:
    return {image.name: image.extents for image in pipeline.inputs}


def _realized(program: Program, inputs: Extents, scope: Scope) -> tuple[Program, ir.Stmt]:
    """The body; without padding for Funcs of which no constant says how much it would be, and with all
    of those in memory of which more is computed at once than a window."""
    refused: set[str] = set()
    while True:
        try:
            body = realize(program, Site(Root(), None), scope, lambda _: ir.Block(()))
        except UnpaddedError as unpadded:
            refused.add(unpadded.func)
            left = padding(program.plan, inputs, refused)
            program = replace(program, padding=left, checks=[])
        except UnfoldedError as wide:
            unfolded = program.unfolded | {wide.func}
            program = replace(program, unfolded=unfolded, checks=[])
        else:
            return program, body


def _arguments(pipeline: Pipeline) -> tuple[Argument, ...]:
    def argument(image: Image, output: bool) -> Argument:
        return Argument(
            image.name, image.element, image.extents, output, image.span, image.constant,
            packed=image.packed,
        )  # fmt: skip

    inputs = (argument(i, False) for i in pipeline.inputs)
    return (*inputs, *(argument(o, True) for o in pipeline.outputs))


def _gapless(pipeline: Pipeline, arguments: Sequence[Argument]) -> tuple[Gapless, ...]:
    """The rows of arguments that `flatten` takes to follow each other."""
    images = {image.name: image for image in (*pipeline.inputs, *pipeline.outputs)}
    return tuple(
        Gapless(a.name, d)
        for a in arguments
        if images[a.name].dims
        for d in range(len(a.extents))
        if d not in images[a.name].dims
    )


def _size_ranges(pipeline: Pipeline) -> dict[str, Interval]:
    """A kernel whose outputs are all empty returns before its body: there, a size that is an extent
    of each is at least 1. Others may be 0."""
    present = [{e.name for e in o.extents if isinstance(e, ir.Var)} for o in pipeline.outputs]
    ranges = {}
    for s in pipeline.sizes:
        if s.fixed is not None:
            ranges[s.name] = Interval(ir.const_index(s.fixed), ir.const_index(s.fixed))
        else:
            least = 1 if all(s.name in names for names in present) else 0
            ranges[s.name] = Interval(ir.const_index(least), None)
    return ranges


def _known(pipeline: Pipeline) -> tuple[Linear, ...]:
    """What the entry point tests: the requirements, extents that are not negative, and an output
    with elements if there is just one."""
    least = 1 if len(pipeline.outputs) == 1 else 0
    known = [form for r in pipeline.requirements for form in implied(r.condition)]
    known += [shifted(linear(e), -least) for o in pipeline.outputs for e in o.extents]
    known += [linear(e) for i in pipeline.inputs for e in i.extents]
    return tuple(form for form in known if form.terms)


def _used(plan: Plan, pipeline: Pipeline) -> Plan:
    """The plan without Funcs that no output depends on once inlining is done."""
    wanted = set(pipeline.output_funcs)
    kept = []
    for name, f in reversed(plan.items()):
        if name in wanted:
            kept.append((name, f))
            for update in (None, *range(len(f.func.updates))):
                wanted |= {a.name for a in stage_accesses(f.func, update)}
            wanted |= {s.joins.func for s in f.stages if s.joins is not None}
    return dict(reversed(kept))
