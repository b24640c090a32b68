"""Random schedules for a generated program: loops of each step, then where each Func is computed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import lcm

from choices import Choices, chance, pick, weighted
from directives import change_loops
from draft import Draft
from joins import like_another
from loop_model import Level, Loop, Node, Stage, common_levels, mark, node_of, outside
from products import tensor_lanes
from spans import text

MEMORIES = ("stack", "heap")


@dataclass(slots=True)
class Plan:
    """The schedule being written. `divisible` collects what `tail = exact` promises of sizes."""

    c: Choices
    draft: Draft
    nodes: dict[str, Node]
    lines: list[str] = field(default_factory=list)
    divisible: dict[str, int] = field(default_factory=dict)
    names: int = 0
    flat: bool = (
        False  # pixels of an output are one loop: which others lose dimensions is not modelled
    )

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def promise(self, size: str, factor: int) -> None:
        self.divisible[size] = lcm(self.divisible.get(size, 1), factor)


def write_schedule(draft: Draft) -> Plan:
    """Lines for every Func, consumers first, so that loops exist when producers name them."""
    plan = Plan(draft.c, draft, {f.name: node_of(draft, f) for f in draft.funcs})
    if chance(draft.c, 5):
        flatten(plan)
    for f in draft.funcs:
        node = plan.nodes[f.name]
        made = cached(plan, node) if f.updates and chance(draft.c, 8) else None
        if not node.output:
            place(plan, node)
        steps(plan, node)
        if made is None:
            wrap(plan, node)
        else:
            place(plan, made)
            steps(plan, made)
    return plan


def cached(plan: Plan, node: Node) -> Node:
    """All steps of a Func in another one, of which it becomes a copy."""
    suffix = plan.fresh("w")
    name = f"{node.name}_{suffix}"
    plan.lines.append(f"{node.text}.cache_write({suffix})")
    first = node.stages[0]
    stages = [
        replace(
            s,
            func=name,
            loops=[x if s.reduces(x) else replace(x, extent=None) for x in s.loops],
            reads=frozenset(name if r == node.name else r for r in s.reads),
        )
        for s in node.stages
    ]
    node.stages = [Stage(node.name, None, first.loops, reads=frozenset({name}))]
    node.place = "root" if node.output else "inline"
    plan.nodes[name] = Node(name, node.variables, stages)
    return plan.nodes[name]


def flatten(plan: Plan) -> None:
    """Two neighbouring dimensions of an output as one."""
    nodes = [n for n in plan.nodes.values() if n.output and len(n.variables) > 1]
    nodes = [n for n in nodes if n.pure_only] or nodes
    if not nodes:
        return
    node = pick(plan.c, nodes)
    at = plan.c.integer(0, len(node.variables) - 2)
    y, x = node.variables[at : at + 2]
    pixel = plan.fresh("px")
    plan.flat = True
    plan.lines.append(f"{node.text}.flatten({y}, {x}, {pixel})")
    node.variables = (*node.variables[:at], pixel, *node.variables[at + 2 :])
    for stage in node.stages:
        loops = [loop for loop in stage.loops if loop.name != x]
        stage.loops = [
            Loop(pixel, frozenset({pixel}), None) if loop.name == y else loop for loop in loops
        ]


def steps(plan: Plan, node: Node) -> None:
    """Directives for the loops of each step."""
    if node.place == "inline" or (plan.flat and not node.output):
        return
    for stage in node.stages:
        joined: list[str] = []
        if node.registers:
            directives = all_unrolled(stage)
        else:
            directives, joined = like_another(plan, node, stage)
            if not joined:
                directives = tensor_lanes(plan, node, stage) or change_loops(plan, node, stage)
        stage.directives = tuple(directives)
        if directives:
            plan.lines.append(f"{step_text(node, stage)}{''.join(directives)}")
        plan.lines += joined
        if stage.factored:
            stage.factored = False
            made = list(plan.nodes.values())[-1]
            place(plan, made)
            steps(plan, made)
    if node.output and chance(plan.c, 5):
        bound(plan, node)


def all_unrolled(stage: Stage) -> list[str]:
    """What memory in registers asks for: every place in it is a constant."""
    found = []
    for loop in [x for x in stage.loops if not stage.reduces(x)]:
        mark(stage, loop, "unroll")
        found.append(f".unroll({loop.name})")
    return found


def step_text(node: Node, stage: Stage) -> str:
    if stage.update is None:
        return node.text
    return f"{node.text}.update" if stage.update == 0 else f"{node.text}.update({stage.update})"


def bound(plan: Plan, node: Node) -> None:
    loops = [x for x in node.stages[0].loops if x.extent is not None and x.name in node.variables]
    if loops:
        loop = pick(plan.c, loops)
        plan.lines.append(f"{node.text}.bound({loop.name}, 0, {text(loop.extent or {})})")


def place(plan: Plan, node: Node) -> None:
    """Where a Func is computed and stored, and how."""
    c = plan.c
    names = {n for n in plan.draft.apart if plan.draft.aliases.get(n, n) == node.name}
    levels = [] if names else common_levels(plan.nodes, node.name)
    kinds = [(3, "default"), (2, "root")]
    if levels:
        kinds.append((6, "at"))
    kind = weighted(c, kinds)
    if kind == "default":
        return
    node.place = kind
    directives = [".compute_root()"]
    if kind == "at":
        node.level = pick(c, levels)
        directives = [f".compute_at({level_text(plan, node.level)})"]
        directives += store(plan, node)
        if chance(c, 10):
            around = outside(plan.nodes, node)
            far = (
                f"({level_text(plan, pick(c, around))})" if around and chance(c, 60) else "_root()"
            )
            directives.append(f".hoist_storage{far}")
    if kind == "at" and node.level == levels[-1] and len(directives) == 1 and chance(c, 10):
        node.registers = True
        directives.append(".store_in(registers)")
    elif chance(c, 15):
        directives.append(f".store_in({pick(c, MEMORIES) if kind == 'at' else 'heap'})")
    if len(node.variables) > 1 and chance(c, 10):
        order = list(node.variables)
        order.append(order.pop(0))
        directives.append(f".reorder_storage({', '.join(order)})")
    if chance(c, 4):
        directives.append(".trace()")  # which changes no code
    if kind == "at" and len(directives) == 1 and chance(c, 12):
        directives.append(".async()")  # refused where threads are around or inside
    if node.variables and chance(c, 8):
        directives.append(f".pad_storage({pick(c, node.variables)}, {pick(c, (8, 3, 4, 16))})")
    slides = len(directives) > 1 and directives[1].startswith(".store_")
    chances = 20 if slides else 6 * any(stage.scan for stage in node.stages)
    if node.variables and chance(c, chances):  # often refused: what is kept must be enough
        directives.append(f".fold_storage({pick(c, node.variables)}, {pick(c, (4, 8, 3, 16, 32))})")
    plan.lines.append(f"{node.text}{''.join(directives)}")


def store(plan: Plan, node: Node) -> list[str]:
    """Outside of where it is computed, one time in three: a sliding window."""
    around = outside(plan.nodes, node)[:-1]
    match weighted(plan.c, ((6, "same"), (2, "at"), (1, "root"))):
        case "at" if around:
            return [f".store_at({level_text(plan, pick(plan.c, around))})"]
        case "root":
            return [".store_root()"]
    return []


def level_text(plan: Plan, level: Level) -> str:
    func, update, loop = level
    node = plan.nodes[func]
    return f"{step_text(node, Stage(func, update, []))}, {loop}"


def wrap(plan: Plan, node: Node) -> None:
    """A wrapper `X.in(f)` for something that the Func reads, now and then."""
    c = plan.c
    if not chance(c, 15):
        return
    func = next((f for f in plan.draft.funcs if f.name == node.name), None)
    if func is None:
        return
    written = plan.draft.arrays.keys() - {"T", "N", *plan.draft.together}
    read = sorted({n for s in node.stages for n in s.reads} & written)
    if not read:
        return
    name = pick(c, read)
    all_reads = [r for d in (func.reads, *(u.reads for u in func.updates)) for r in d.get(name, [])]
    producer = next((f for f in plan.draft.funcs if f.name == name), None)
    variables: tuple[str, ...] = ()
    if producer is not None:
        variables = producer.variables
    elif all_reads and all_reads[0] is not None and len(set(all_reads)) == 1:
        variables = all_reads[0]
    made = Node(f"{name}_in_{node.name}", variables, [])
    made.spelling, made.place = f"{name}.in({node.name})", "inline"
    loops = node_loops(variables)
    made.stages = [Stage(made.name, None, loops, reads=frozenset({name}))]
    for stage in node.stages:
        if name in stage.reads:
            stage.reads = stage.reads - {name} | {made.name}
    plan.nodes[made.name] = made
    place(plan, made)
    if variables:
        steps(plan, made)
    if made.place == "inline":
        plan.lines.append(f"{made.text}.compute_inline()")


def node_loops(variables: tuple[str, ...]) -> list[Loop]:
    return [Loop(v, frozenset({v}), None) for v in variables]
