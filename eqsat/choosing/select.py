"""Instruction selection: vector statements become tensor instructions where a target has them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import closing
from dataclasses import field, replace
from itertools import groupby

from hbc.eqsat.choosing.conditions import condition_miss
from hbc.eqsat.choosing.miss import Miss
from hbc.eqsat.choosing.near_miss import near_miss, not_a_tensor
from hbc.eqsat.choosing.partial_sums import in_partial_sums, summed_lanes, why_not
from hbc.eqsat.choosing.refusals import (
    NO_SUM,
    in_last_pieces,
    no_product,
    nothing_does,
    refuse_wide,
    untiled,
)
from hbc.eqsat.choosing.register_layout import laid_out, of_blocks
from hbc.eqsat.choosing.report import Part, Record, chosen, missed, part_of
from hbc.eqsat.choosing.shapes import Shapes
from hbc.eqsat.choosing.terms import sums_varying
from hbc.eqsat.graph.graphs import Graphs
from hbc.eqsat.graph.lowering import selectable
from hbc.eqsat.operands.choice import Choice, Statement
from hbc.eqsat.operands.marks import Readings, Spellings, placed
from hbc.eqsat.operands.packs import has_band
from hbc.eqsat.operands.placement import Frames
from hbc.eqsat.operands.statement import (
    Zeros,
    in_whole_tiles,
    is_product,
    statement,
    statements,
    uncut,
)
from hbc.eqsat.operands.template import Templates
from hbc.eqsat.tensors.idle import without_idle
from hbc.eqsat.tensors.products_apart import products_apart
from hbc.eqsat.tensors.tensor import NotTensorError
from hbc.eqsat.tensors.unmask import LOCAL, is_relaxed, zero_outside
from hbc.eqsat.tiles.agreement import Mapped, NarrowTilesError, Options
from hbc.eqsat.tiles.scope import TileScope
from hbc.eqsat.tiles.steps import Product, allocated, executed
from hbc.eqsat.tiles.tiles import MovingTileError, TileBuffer, TileShapeError
from hbc.ir.algebra.simplify import simplify_stmt
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import THREADS
from hbc.ir.lang.names import unused
from hbc.ir.lang.types import FRAGMENTS, TILES, Memory
from hbc.ir.lang.walk import (
    all_names,
    block,
    contains,
    map_stmt,
    nodes,
    nodes_of,
    operands,
    own_expressions,
    reads,
    substitute_stmt,
)
from hbc.ir.lang.walk import statements as nested


def select(
    kernel: Kernel,
    instructions: Sequence[Instruction],
    report: list[Record] | None = None,
    *,
    checked: bool = True,
) -> Kernel:
    """The kernel with the instructions of the target where they do its statements. `report` collects
    what was found for each; also when HbcError is raised. `checked`: each kind of statement is run
    beside what it was replaced by."""
    usable = tuple(i for i in instructions if selectable(i))
    if not usable or not any(_may_map(n) for n in nodes(kernel.body)):
        return kernel
    kernel = kernel.map_body(products_apart)
    taken = all_names(kernel.body)

    def fresh(base: str) -> str:
        taken.add(name := unused(base, taken, "_", first=1))
        return name

    records = [] if report is None else report
    on_gpu = any(i.place.memory in FRAGMENTS for i in usable)
    constants = frozenset(a.name for a in kernel.arguments if a.constant and not on_gpu)
    selection = _Selection(usable, Frames(fresh, on_gpu, constants), records, checked)
    with closing(selection.shapes.graphs):
        chosen = substitute_stmt(selection.stmt(kernel.body), selection.frames.places)
    simple = {id(n) for s in nested(kernel.body) for n in (s, *own_expressions(s))}
    simple |= {id(s) for s in nested(chosen) if _is_plain(s)}
    known = {i.name: i for i in usable} | selection.tiles.instructions
    body = without_idle(simplify_stmt(chosen, done=simple), tuple(known.values()))
    used = {n.name for s in nested(body) for n in _values(s) if isinstance(n, ir.Instruct)}
    instructions = tuple(i for i in known.values() if i.name in used)
    finite = selection.assumes_finite
    return replace(kernel, body=body, instructions=instructions, assumes_finite=finite)


@record
class Local:
    """A buffer in registers or tiles: whether its masked stores may write all lanes, and the conditions
    where it is 0 unless they hold."""

    allocation: ir.Allocate
    relaxed: bool
    zeros: frozenset[Hashable]


@mutable
class _Selection:
    """The walk over a kernel."""

    instructions: tuple[Instruction, ...]
    frames: Frames
    report: list[Record]
    checked: bool
    assumes_finite: bool = False  # a banded matrix of floats was chosen
    proven: set[int] = field(default_factory=set)  # numbers of choices
    locals: dict[int, Local] = field(default_factory=dict)  # by the id of the allocation
    templates: Templates = field(default_factory=Templates)
    readings: Readings = field(default_factory=Readings)
    kinds: dict[Memory, tuple[Instruction, ...]] = field(default_factory=dict)
    seen: dict[tuple[int, bool], tuple[ir.Store, Options | None]] = field(default_factory=dict)
    alone: dict[str, tuple[Instruction, ...]] = field(default_factory=dict)  # each, by its name
    partial: set[str] = field(default_factory=set)  # buffers of partial sums
    blocks: tuple[Instruction, ...] = field(init=False)  # that sum blocks of several rows
    shapes: Shapes = field(init=False)
    tiles: TileScope = field(init=False)

    def __post_init__(self) -> None:
        self.blocks = of_blocks(self.instructions)
        self.shapes = Shapes(graphs=Graphs(self.instructions))
        self.tiles = TileScope({}, self.is_relaxed, self.options, self.fix, self.frames)

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        match s:
            case ir.Allocate(memory=memory) if memory in TILES:
                return self.tile_buffer(s)
            case ir.Allocate(memory=Memory.REGISTER):
                spread = in_partial_sums(
                    s, self.on(Memory.REGISTER), self.mappings, self.frames.fresh
                )
                if isinstance(spread.body, ir.Allocate) and spread is not s:
                    self.partial.add(spread.body.buffer)
                return self.within(laid_out(spread, self.blocks, self.mappings))
            case ir.Block(body=body) if any(self.is_on_tiles(c) for c in body):
                return self.on_tiles(body)
            case _ if self.is_on_tiles(s):
                return self.on_tiles((s,))
            case ir.Store() if summed_lanes(s) is not None:
                self.report.append(missed(s, why_not(s, self.fitting(s)), self.part(s)))
                return s
            case ir.Store() if not is_product(s.value) or self.adds_up(s.value):
                return self.unmasked(s)
            case _:
                return self.within(s)

    def within(self, s: ir.Stmt) -> ir.Stmt:
        """The statement after what is packed for it."""
        with self.frames.inside(s) as frame:
            new = self.store(s) if isinstance(s, ir.Store) else map_stmt(s, _same, self.stmt)
            return self.frames.filled(frame, new)

    def store(self, s: ir.Store) -> ir.Stmt:
        if s.atomic is not None:
            return s
        mapping = self.selected(s)
        if mapping is None or mapping[1] is None:
            miss = self.miss(s)
            if miss is not None:
                self.report.append(missed(s, miss, self.part(s)))
                if mapping is None or sums_varying(mapping[0].value):
                    refuse_wide(s, miss)
            return self.unmasked(s)
        self.prove(s, mapping[0], mapping[1])
        self.report.append(chosen(s, mapping[1], self.part(s)))
        marked = self.shapes.marked[mapping[1].number]
        return self.templates.perform(marked, mapping[1], self.frames.fresh, self.frames.packed)

    def part(self, s: ir.Store) -> Part:
        """Whether it is the rest of a loop that the store at hand does."""
        return part_of(s, (frame.stmt for frame in self.frames.stack))

    def adds_up(self, e: ir.Expr) -> bool:
        """Whether all that is summed in the expression are partial sums."""
        summed = (n.value for n in nodes_of(e, ir.VectorReduce))
        return all(isinstance(x, ir.Load) and x.buffer in self.partial for x in summed)

    def prove(self, s: ir.Store, statement: Statement, choice: Choice) -> None:
        """Runs the statement beside its choice, once for each kind. Raises CheckError."""
        c = choice.candidate
        left_out = s.mask is not None and not (statement.mask or statement.dead)
        by_zeros = left_out or statement.by_zeros  # what adds nothing adds 0 * x
        if c.element.is_float and (by_zeros or has_band(c.a) or has_band(c.b)):
            self.assumes_finite = True
        if self.checked and choice.number not in self.proven:
            from hbc.eqsat.operands.check import check  # imports NumPy

            self.proven.add(choice.number)
            check(s, statement, choice)

    def local(self, s: ir.Allocate) -> Local:
        """What is known of a buffer in scope."""
        if id(s) not in self.locals:
            self.locals[id(s)] = Local(s, is_relaxed(s), zero_outside(s))
        return self.locals[id(s)]

    def is_relaxed(self, buffer: str) -> bool:
        """Whether stores to the buffer may write where their mask does not hold."""
        return any(a.buffer == buffer and self.local(a).relaxed for a in self.frames.allocations())

    def zeros(self) -> Zeros:
        """The local buffers in scope, and where they are known to be 0."""
        local = (a for a in self.frames.allocations() if a.memory in LOCAL)
        return {a.buffer: self.local(a).zeros for a in local}

    def unmasked(self, s: ir.Store) -> ir.Store:
        return replace(s, mask=None) if self.is_relaxed(s.buffer) else s

    def selected(self, s: ir.Store) -> tuple[Statement, Choice | None] | None:
        """The store as a statement, and the instructions for it; None when it is no such."""
        options = self.options(s)
        if options is None:
            return None
        return options.mappings[0] if options.mappings else (options.statement, None)

    def options(self, s: ir.Store) -> Options | None:
        """The store as a statement, and what may do it, the cheapest first."""
        key = id(s), s.buffer in self.tiles.buffers
        if key not in self.seen:
            options: Options | None
            try:
                options = self.all_options(s)
            except NotTensorError:
                options = None
            self.seen[key] = s, options  # with the store, whose id is thus not used again
        return self.seen[key][1]

    def mappings(self, a: ir.Allocate, only: tuple[Instruction, ...]) -> list[Mapped | None]:
        """The cheapest way for each product that sums in a buffer in registers. `only`: by these
        instructions, if any."""
        only = self.alone.setdefault(only[0].name, only) if only else ()
        cheapest: list[Mapped | None] = []
        for s in self.frames.stores(a):
            if s.buffer == a.buffer and is_product(s.value):
                try:
                    cheapest.append(next(iter(self.all_options(s, only).mappings), None))
                except NotTensorError:
                    cheapest.append(None)
        return cheapest

    def all_options(self, s: ir.Store, only: tuple[Instruction, ...] = ()) -> Options:
        """What may do the store, the cheapest first. `only`: these instructions, if any. Raises
        NotTensorError."""
        fit = only or self.fitting(s)
        relaxed = self.is_relaxed(s.buffer)
        on_tiles, among_tiles = s.buffer in self.tiles.buffers, bool(self.tiles.buffers)
        alone = self.is_alone(s)

        def read(s: ir.Store, zeros: Zeros) -> Spellings:
            # In registers the lanes of one row are all there is to choose.
            in_registers = (
                () if on_tiles else (statement(s, self.instructions, relaxed, zeros, alone),)
            )
            spellings = in_registers or statements(s, fit, relaxed, zeros, alone)
            done = tuple(map(in_whole_tiles, spellings)) if on_tiles else spellings
            whole = uncut(s, relaxed, zeros, spellings[0], alone) if among_tiles else spellings[0]
            return Spellings(spellings[0], tuple(x for x in done if x is not None), whole)

        found, places = self.readings.of(
            s, read, self.zeros(), (relaxed, id(fit), among_tiles, alone)
        )
        mappings: list[Mapped] = []
        refused = on_tiles and condition_miss(found.first, fit) is not None
        for spelling in () if refused else found.done:
            choices = self.shapes.choose(spelling, places, fit, self.frames)
            at_places = placed(spelling, places) if choices else spelling
            mappings += [(at_places, c) for c in choices]
        mappings.sort(key=lambda mapped: mapped[1].cycles)
        first = placed(found.first, places)
        whole = first if found.whole is found.first else placed(found.whole, places)
        return Options(first, tuple(mappings), whole)

    def fix(self, s: ir.Store, mapped: Mapped) -> None:
        """Only this will do for the store, which is on tiles."""
        key = id(s), True
        _, options = self.seen[key]
        assert options is not None
        self.seen[key] = s, replace(options, mappings=(mapped,))

    def tile_buffer(self, s: ir.Allocate) -> ir.Stmt:
        """The scope of a buffer in tile memory."""
        with self.frames.inside(s) as frame:
            try:
                buffer = self.tiles.add(s)
            except (TileShapeError, MovingTileError, NarrowTilesError) as unknown:
                error, miss = untiled(unknown, s, self.frames.stack[0].stmt)
                self.report += [missed(n, miss, self.part(n)) for n in _stores_to(s) if _is_sum(n)]
                raise error from unknown
            outer = self.tiles.buffers.get(s.buffer)
            self.tiles.buffers[s.buffer] = buffer
            self.tiles.stored.pop(s.buffer, None)
            self.refuse(s, buffer)
            body = allocated(buffer, self.stmt(s.body), s)
            new = self.frames.filled(frame, body)
        del self.tiles.buffers[s.buffer]
        if outer is not None:
            self.tiles.buffers[s.buffer] = outer
        return new

    def refuse(self, a: ir.Allocate, buffer: TileBuffer) -> None:
        """HbcError where a sum in tile memory has no instruction, or a buffer there no sum."""
        misses = [(n, miss) for n in _stores_to(a) if (miss := self.miss(n)) is not None]
        sums = [(n, miss) for n, miss in misses if _is_sum(n)]
        self.report += [missed(n, miss) for n, miss in sums]
        if sums:
            raise nothing_does(*sums[0])
        if not buffer.tiles:
            unknown = in_last_pieces(a)
            if unknown is not None:
                raise unknown
            updates = [(n, miss) for n, miss in misses if reads(n.value, a.buffer)]
            self.report += [missed(n, miss if updates else NO_SUM) for n, miss in misses]
            raise no_product(a, *(updates[-1] if updates else (None, NO_SUM)))

    def miss(self, s: ir.Store) -> Miss | None:
        """Why no instruction does the statement; None where one does."""
        fit = self.fitting(s)
        mapping = self.selected(s)
        if mapping is not None:
            if mapping[1] is not None:
                return None
            of_where = condition_miss(mapping[0], fit) if s.buffer in self.tiles.buffers else None
            return of_where or near_miss(mapping[0].value, fit, self.instructions)
        try:
            relaxed = self.is_relaxed(s.buffer)
            statement(s, self.instructions, relaxed, self.zeros(), self.is_alone(s))
        except NotTensorError as why:
            return not_a_tensor(why, s, fit)
        return None

    def is_alone(self, s: ir.Store) -> bool:
        """Whether one element of a tile would be a tile of one row and one column: not where no lanes
        are summed, since then nothing was vectorized."""
        if reads(s.value, s.buffer) and not contains(s.value, ir.VectorReduce):
            return False
        return s.buffer in self.tiles.buffers or self.tiles.is_in(s.value)

    def fitting(self, s: ir.Store) -> tuple[Instruction, ...]:
        """The instructions on registers of the kind that the store goes to."""
        tiles = self.tiles.buffers.get(s.buffer)
        return self.on(Memory.REGISTER if tiles is None else tiles.memory)

    def on(self, memory: Memory) -> tuple[Instruction, ...]:
        """The instructions on registers of this kind."""
        if memory not in self.kinds:
            self.kinds[memory] = tuple(i for i in self.instructions if i.place.memory is memory)
        return self.kinds[memory]

    def is_on_tiles(self, s: ir.Stmt) -> bool:
        """Whether the statement itself, or all of it at once, does something to tiles."""
        if not any(self.tiles.touched(s)):
            return False
        return isinstance(s, ir.Store) or self.is_through_memory(s)

    def is_through_memory(self, s: ir.Stmt) -> bool:
        """Whether the statement must work on copies of tiles."""
        if not any(self.tiles.touched(s)) or _has_threads(s):
            return False
        stores = self.tiles.touching(s)
        if any(id(n) in self.tiles.planned or self.tiles.product(n) for n in stores):
            return False
        return not all(self.tiles.is_direct(n) for n in stores)

    def on_tiles(self, body: Sequence[ir.Stmt]) -> ir.Stmt:
        """Statements in order, some of which touch tiles: neighbouring products share their operands,
        and neighbours that work on copies share these."""
        done: list[ir.Stmt] = []
        pending: list[Product] = []
        for through, group in groupby(map(self.tiles.first, body), self.is_through_memory):
            run = list(group)
            if through:
                done += [self._executed(pending), self._on_copies(run)]
                continue
            for s in run:
                product = self.tiles.product(s)
                if product is None:
                    done.append(self._executed(pending))
                    done.append(self._moved(s) if self.is_on_tiles(s) else self.stmt(s))
                    continue
                if isinstance(s, ir.Store):
                    self.report.append(chosen(s, product[1], self.part(s)))
                    self.prove(s, *product)
                with self.frames.inside(s) as frame:
                    new = self.tiles.accumulate(*product, self.stmt)
                if isinstance(new, list) and not frame.packs:
                    pending += new
                    continue
                done.append(self._executed(pending))
                if isinstance(new, list):
                    new = executed(new, self.frames.fresh)
                done.append(self.frames.filled(frame, new))
        return block(*done, self._executed(pending))

    def _executed(self, pending: list[Product]) -> ir.Stmt:
        now = executed(pending, self.frames.fresh) if pending else ir.Block(())
        pending.clear()
        return now

    def _on_copies(self, run: Sequence[ir.Stmt]) -> ir.Stmt:
        """Statements that work on copies of tiles; neighbours share these. Those under a condition make
        their own there: where it does not hold, the tiles may have no values."""
        done: list[ir.Stmt] = []
        for within, group in groupby(run, self._has_own_copies):
            if within:
                done += map(self.within, group)
            else:
                done.append(self.tiles.through_memory(list(group), self.stmt))
        return block(*done)

    def _has_own_copies(self, s: ir.Stmt) -> bool:
        match s:
            case ir.If(condition=e) | ir.LetStmt(value=e):
                return any(isinstance(n, ir.If) for n in nested(s)) and not self.tiles.is_in(e)
            case _:
                return False

    def _moved(self, s: ir.Stmt) -> ir.Stmt:
        assert isinstance(s, ir.Store)
        with self.frames.inside(s) as frame:
            return self.frames.filled(frame, self.tiles.direct(s))


def _has_threads(s: ir.Stmt) -> bool:
    """Whether several warps do something in it, each with its own tiles."""
    return any(isinstance(n, ir.For) and n.kind in THREADS for n in nested(s))


def _may_map(n: object) -> bool:
    """Whether there is anything for instructions to do, or to be refused."""
    match n:
        case ir.VectorReduce(op=op):
            return op is ir.Op.ADD
        case ir.Allocate(memory=memory):
            return memory in TILES
        case _:
            return False


def _stores_to(a: ir.Allocate) -> list[ir.Store]:
    return [n for n in nodes_of(a.body, ir.Store) if n.buffer == a.buffer]


def _is_sum(s: ir.Store) -> bool:
    """Whether vector lanes are reduced in it."""
    return contains(s.value, ir.VectorReduce)


def _is_plain(s: ir.Stmt) -> bool:
    """Whether it executes instructions or moves vectors, without masks: what is written in canonical
    form."""
    if not isinstance(s, ir.Store) or s.mask is not None or not isinstance(s.index, ir.Ramp):
        return False
    return all(
        n.mask is None
        if isinstance(n, ir.Load)
        else isinstance(n, ir.Instruct | ir.Broadcast | ir.Ramp)
        for n in _values(s)
    )


def _same(e: ir.Expr) -> ir.Expr:
    return e


def _values(s: ir.Stmt) -> Iterator[ir.Expr]:
    """The expressions of a statement but for the places of its loads."""
    stack = list(own_expressions(s))
    while stack:
        top = stack.pop()
        yield top
        if not isinstance(top, ir.Load | ir.Ramp):
            stack += operands(top)
