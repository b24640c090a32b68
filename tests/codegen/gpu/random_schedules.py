"""Random schedules for a GPU, for the random programs of the fuzzer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from agreement import check_case
from case import Case, generate
from choices import Recorded

from hbc.frontend.directives.gpu_atomics import can_be_atomic
from hbc.frontend.plans.plan import is_associative, stage_vars
from hbc.frontend.program.funcs import Func, Pipeline, Update
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.nodes import Op

Levels = dict[str, tuple[str, str]]  # by output: its last loop over blocks, its last over threads


def random_case(seed: int) -> Case | None:
    """A program, scheduled for a GPU unless it goes without; None when it is no legal program."""
    case = generate(Recorded(random=Random(seed)))
    text = re.sub(r"\nschedule s for .*\{.*?\n\}", "", case.program, flags=re.DOTALL)
    plain = replace(case, program=text, target="cuda")
    try:
        p = check_case(plain)
    except HbcError:
        return None
    r = Random(seed)
    lines = schedule_lines(r, p)
    if not lines or r.random() < 0.1:
        return plain
    body = "\n".join(f"    {line}" for line in lines)
    return replace(plain, program=f"{text}\nschedule s for cuda {{\n{body}\n}}")


def schedule_lines(r: Random, p: Pipeline) -> list[str]:
    """Outputs over blocks and threads, other Funcs somewhere in them."""
    outputs = {o.name for o in p.outputs}
    funcs = [f for f in p.funcs if f.table_shape is None]
    levels: Levels = {}
    lines = [line for f in funcs if f.name in outputs for line in _output(r, f, levels)]
    return lines + [line for f in funcs if f.name not in outputs for line in _inner(r, f, levels)]


def _output(r: Random, f: Func, levels: Levels) -> Iterator[str]:
    for number, update in enumerate((None, *f.updates)):
        names = stage_vars(f, update)
        if not names and update is not None and update.reduce:
            yield from _atomic(r, f, number, update)
        if not names or r.random() < 0.15:
            continue
        stage = f.name if update is None else f"{f.name}.update({number - 1})"
        chain, threads = _pieces(r, names, update is None)
        if "zi" in threads and r.random() < 0.25:
            chain += f".split(zi, zt, zv, {r.choice([2, 4, 8])})"
            chain += f".{r.choice(['vectorize', 'unroll'])}(zv)"
            threads = threads.replace("zi", "zt")
        if update is None:
            levels[f.name] = ("zo", threads.split(", ")[-1])
        stays = r.choice(["", "", "", ".persistent()", ".persistent(2)"])
        yield f"{stage}{chain}.gpu_threads({threads}){stays}"


def _atomic(r: Random, f: Func, number: int, update: Update) -> Iterator[str]:
    """A sum without loops over its results, shared among blocks and threads that add atomically."""
    last = update.reduce[-1].name
    if r.random() < 0.3 or not can_be_atomic(update.op or Op.SHL, f.element):
        return
    if not is_associative(f, update):
        return
    each, turns = r.choice([4, 32, 48, 64]), r.choice([1, 2, 3])
    chain = f".split({last}, zo, zi, {each})"
    order = [x.name for x in update.reduce[:-1]]
    if turns > 1:
        chain += (
            f".split(zo, zb, zs, {turns}).reorder(zb, zi, zs{''.join(f', {x}' for x in order)})"
        )
    else:
        chain += f".reorder(zo, zi{''.join(f', {x}' for x in order)})"
    blocks = "zb" if turns > 1 else "zo"
    stays = r.choice(["", ".persistent()"])
    yield f"{f.name}.update({number - 1}){chain}.atomic().gpu_blocks({blocks}).gpu_threads(zi){stays}"


def _pieces(r: Random, names: tuple[str, ...], pure: bool) -> tuple[str, str]:
    """Splits, the loops over blocks, and which loops threads may have."""
    tail = r.choice(["mask", "mask", "guard", "shift" if pure else "mask"])
    wide, high = r.choice([2, 4, 8, 32]), r.choice([2, 4, 16])
    if len(names) == 1 or r.random() < 0.3:
        rest, chain = names[:-1], f".split({names[-1]}, zo, zi, {wide * high}, tail = {tail})"
        if rest and len(rest) <= 2 and r.random() < 0.6:
            return f"{chain}.gpu_blocks({', '.join(rest)}, zo)", "zi"
        inside = f".reorder(zo, {', '.join(rest)}, zi)" if rest else ""
        return f"{chain}{inside}.gpu_blocks(zo)", "zi"
    rest, (a, b) = names[:-2], names[-2:]
    chain = f".tile({a}, {b}, yo, zo, yi, zi, {high}, {wide}, tail = {tail})"
    inside = f".reorder(yo, zo, {', '.join(rest)}, yi, zi)" if rest else ""
    return f"{chain}{inside}.gpu_blocks(yo, zo)", r.choice(["yi, zi", "zi", "yi"])


def _inner(r: Random, f: Func, levels: Levels) -> Iterator[str]:
    kind = r.random()
    if kind < 0.25:
        return
    if kind < 0.4 or not levels:
        yield f"{f.name}.compute_root()"
        return
    output = r.choice(list(levels))
    blocks, threads = levels[output]
    in_block = kind < 0.85
    chain = f"{f.name}.compute_at({output}, {blocks if in_block else threads})"
    if in_block and r.random() < 0.2:
        chain += ".store_in(shared)"
    if f.variables and r.random() < 0.3:
        chain += f".vectorize({f.variables[-1]}, {r.choice([2, 4, 8])})"
    yield chain
