"""What a `.hb` text means, element by element, from its syntax tree as it is parsed: functions are called,
members of families are looked up, tuples are lists. Nothing of `frontend/expand`, `checks` or `oracle`.

Slow and simple: for small sizes, and for programs that are right.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tree_names import (
    EDGES,
    Enlarge,
    Env,
    Func,
    Kind,
    Later,
    Point,
    Ref,
    around,
    array_ref,
    edged,
    free,
    remembered,
)
from tree_numbers import (
    BEYOND,
    FUNCTIONS,
    KINDS,
    End,
    Number,
    Typed,
    binary,
    cast,
    function,
    in_4_bits,
    of_4_bits,
    select,
    type_of,
    unary,
)

import hbc
from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

LIBRARY = Path(hbc.__path__[0]) / "frontend" / "std"
CONSTANTS = {
    "pi": math.pi,
    "inf": math.inf,
    "nan": math.nan,
    "lowest": End(False),
    "highest": End(True),
}
STARTS: dict[str, tuple[Number, str]] = {
    "sum": (0, "+"),
    "product": (1, "*"),
    "min": (End(True), "min"),
    "max": (End(False), "max"),
    "any": (np.bool_(False), "or"),
    "all": (np.bool_(True), "and"),
}


class Meaning:
    """The program of a text at some sizes, for some inputs."""

    def __init__(
        self, text: str, folder: Path, sizes: Mapping[str, int], inputs: Mapping[str, Any],
        settings: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.sizes, self.inputs, self.settings = sizes, inputs, settings or {}
        self.names: Env = {**CONSTANTS, **{n: Kind(n) for n in KINDS}}
        self.functions: dict[str, ast.Function] = {}
        self.outputs: dict[str, ast.Output] = {}
        self.reduces: dict[str, ast.Interval] = {}
        self.funcs: dict[Any, tuple[Func, int]] = {}
        self.families: set[str] = set()
        self.typing = False
        statements = list(self._statements(parse(Source("k.hb", text)), folder, set()))
        for s in sorted(statements, key=lambda s: isinstance(s, ast.Each | ast.Definition)):
            self._declare(s, {})

    # Declarations

    def _statements(self, file: ast.File, folder: Path, seen: set[Path]) -> Iterator[ast.Statement]:
        for s in file.statements:
            if isinstance(s, ast.Kernel) and s.body is not None:
                yield from s.body
            elif isinstance(s, ast.Import):
                std = s.path.value.startswith("std/")
                path = LIBRARY / s.path.value[4:] if std else folder / s.path.value
                if path not in seen:
                    seen.add(path)
                    inner = parse(Source(str(path), path.read_text(encoding="utf-8")))
                    yield from self._statements(inner, path.parent, seen)
            else:
                yield s

    def _declare(self, s: ast.Statement, env: Env) -> None:
        match s:
            case ast.Sizes(names=names):
                self.names |= {n.text: np.int64(self.sizes[n.text]) for n in names}
            case ast.Param(name=name):
                value = self.settings.get(name.text)
                value = self.value(s.default, {}) if value is None else value
                self.names[name.text] = cast(value, self._kind(s.type.text))
            case ast.TypeParam(name=name):
                self.names[name.text] = Kind(self.settings.get(name.text, s.default.text))
            case ast.Input(name=name):
                given = np.asarray(self.inputs.get(name.text, self.sizes.get(name.text)))
                if s.type.text in ("i4", "u4"):
                    count = int(self.value(s.extents[-1], {}))
                    self.names[name.text] = array_ref(
                        of_4_bits(given, s.type.text, count), s.type.text.replace("4", "8")
                    )
                    return
                kind = self._kind(s.type.text)
                self.names[name.text] = (
                    array_ref(given, kind) if s.extents else cast(given[()], kind)
                )
            case ast.Output(name=name):
                self.outputs[name.text] = s
            case ast.Table(name=name):
                self.names[name.text] = self._table(s)
            case ast.Reduce(domains=domains):
                self.reduces |= {d.name.text: d.interval for d in domains}
            case ast.Function(name=name):
                self.functions[name.text] = s
            case ast.Alias(name=name):
                self.names[name.text] = Later(lambda: self.argument(s.value, env))
            case ast.Each(domains=domains, body=body):
                for inner in self._along([(d.name.text, d.interval) for d in domains], env, int):
                    for b in body:
                        self._declare(b, inner)
            case ast.Definition():
                self._define(s, env)
            case _:
                pass

    def _define(self, s: ast.Definition, env: Env) -> None:
        targets = [(s.name, s.members), *((t.name, t.members) for t in s.others)]
        if not s.members and s.op == "=" and self._gives_ref(s.value):  # `g[l] = down(A)`
            key = (s.name.text, tuple(int(self.value(i, env)) for i in s.indices))
            self.families.add(s.name.text)
            self.names[key] = Later(lambda: self.argument(s.value, env))
            return
        keys: list[Any] = []
        for name, members in targets:
            self.families |= {name.text} if members else set()
            at = tuple(int(self.value(m, env)) for m in members)
            keys.append((name.text, at) if members else name.text)
        if keys[0] not in self.funcs:
            func = Func(tuple(keys))
            self.funcs |= {key: (func, n) for n, key in enumerate(keys)}
        self.funcs[keys[0]][0].steps.append((s, env))

    def _kind(self, name: str) -> str:
        """Of 4 bits are arrays, not values."""
        return name.replace("4", "8") if name in ("i4", "u4") else str(self.names[name].name)

    def _table(self, s: ast.Table) -> Ref:
        kind = self._kind(s.type.text)
        if s.variables is None:
            return array_ref(self._cells(s.value, kind), kind)
        names = [v.text for v in s.variables if isinstance(v, ast.Name)]
        extents = tuple(int(self.value(e, {})) for e in s.extents)
        cells = np.empty(extents, KINDS[kind])
        for at in np.ndindex(*extents):
            env = dict(zip(names, map(np.int64, at), strict=True))
            assert not isinstance(s.value, ast.Cells)
            cells[at] = cast(self.value(s.value, env), kind)
        return array_ref(cells, kind)

    def _cells(self, e: ast.Expr | ast.Cells, kind: str) -> Any:
        if isinstance(e, ast.Cells):
            return np.array([self._cells(c, kind) for c in e.cells])
        return cast(self.value(e, {}), kind)

    # Names

    def named(self, key: Any) -> Any:
        """What a name of the file stands for."""
        if key in self.names:
            found = self.names[key]
            return found.found if isinstance(found, Later) else found
        func, part = self.funcs[key]
        return Ref(lambda: self.element(func, part), lambda at: self.at(func, at)[part])

    def argument(self, e: ast.Expr, env: Env) -> Any:
        """What a parameter stands for: a Func, a type, a function or a value."""
        match e:
            case ast.Name(text=text) if text not in env and text in self.functions:
                return self.functions[text]
            case ast.Name(text=text):
                found = env[text] if text in env else self.named(text)
                return found if isinstance(found, Ref | Kind | ast.Function) else self.value(e, env)
            case ast.Access(name=name, indices=indices) if self._is_family(name.text, env):
                return self.named((name.text, tuple(int(self.value(i, env)) for i in indices)))
            case ast.Call(name=name, args=args) if self._gives_ref(e, env):
                return self.ref_of(name.text, args, env)
            case _:
                return self.value(e, env)

    def _is_family(self, name: str, env: Env) -> bool:
        return name in self.families and name not in env

    def _gives_ref(self, e: ast.Expr, env: Env | None = None) -> bool:
        if not isinstance(e, ast.Call):
            return False
        name = e.name.text
        of = (env or {}).get(name, self.functions.get(name))
        return name in EDGES or (isinstance(of, ast.Function) and of.variables is not None)

    def ref_of(self, name: str, args: tuple[ast.Expr, ...], env: Env) -> Ref:
        """An input with an edge, or a function that stands for a Func."""
        if name in EDGES:
            return edged(name, self.argument(args[0], env))
        of = env.get(name, self.functions.get(name))
        own = self.bound(of, args, env)
        variables = [v.text for v in of.variables]

        def at(point: Point) -> Number:
            return self.value(
                of.value, {**own, **dict(zip(variables, map(np.int64, point), strict=True))}
            )

        def element() -> str | None:
            return self.typed(of.value, {**own, **dict.fromkeys(variables, np.int64(0))})

        return Ref(element, remembered(at))

    def bound(self, of: ast.Function, args: tuple[ast.Expr, ...], env: Env) -> Env:
        """The parameters with what they stand for."""
        names, own = iter(of.parameters), {}
        for arg, count in zip(args, of.shape or (0,) * len(args), strict=True):
            if count:
                own |= {next(names).text: v for v in self.parts(arg, env)}
            else:
                own[next(names).text] = self.argument(arg, env)
        return own

    # Expressions

    def typed(self, e: ast.Expr, env: Env) -> str | None:
        """The type of an expression; None for literals."""
        return type_of(self.types(lambda: self.value(e, env)))

    def types(self, of: Callable[[], Any]) -> Any:
        before, self.typing = self.typing, True
        found = of()
        self.typing = before
        return found

    def value(self, e: ast.Expr, env: Env) -> Number:
        match e:
            case ast.Number(value=value):
                return value
            case ast.Boolean(value=value):
                return np.bool_(value)
            case ast.Name(text=text):
                found = env[text] if text in env else self.named(text)
                return Typed(str(type_of(found))) if self.typing and type_of(found) else found
            case ast.Access(name=name, indices=indices):
                return self.read(env.get(name.text) or self.named(name.text), indices, env)
            case ast.MemberAccess(name=name, members=members, indices=indices):
                at = tuple(int(self.outright(m, env)) for m in members)
                return self.read(self.named((name.text, at)), indices, env)
            case ast.EdgeAccess(name=name, args=args, indices=indices):
                return self.read(self.ref_of(name.text, args, env), indices, env)
            case ast.Call(name=name, args=args):
                return self.call(name.text, args, env)
            case ast.Unary(op=op, a=a):
                return unary(op, self.value(a, env))
            case ast.Binary(op=op, a=a, b=b):
                base, other = self.value(a, env), self.value(b, env)
                if base is BEYOND and op == "**" and other == 0:  # a product that reads nothing
                    base = cast(1, str(self.typed(a, env)))
                return binary(op, base, other)
            case ast.Let(name=name, value=inner, body=body):
                return self.value(body, {**env, name.text: self.value(inner, env)})
            case ast.Reduction():
                return self.reduction(e, env)
            case _:
                raise AssertionError(f"no value: {e}")

    def outright(self, e: ast.Expr, env: Env) -> Number:
        """The value, also where only types are asked for."""
        before, self.typing = self.typing, False
        found = self.value(e, env)
        self.typing = before
        return found

    def read(self, ref: Ref, indices: tuple[ast.Expr, ...], env: Env) -> Number:
        if self.typing:
            t = ref.element()
            return 0 if t is None else Typed(t)
        found = [self.value(i, env) for i in indices]
        return BEYOND if BEYOND in found else ref.at(tuple(map(int, found)))

    def call(self, name: str, args: tuple[ast.Expr, ...], env: Env) -> Number:
        of = env.get(name, self.functions.get(name))
        if isinstance(of, ast.Function):
            return self.value(of.value, self.bound(of, args, env))
        kind = env.get(name, self.names.get(name))
        if name == "bytes":
            t = args[0].text if isinstance(args[0], ast.Name) else ""
            return int(np.dtype(KINDS[env[t].name if t in env else self._kind(t)]).itemsize)
        values = [self.value(a, env) for a in args]
        if isinstance(kind, Kind):
            return cast(Typed(kind.name) if self.typing else values[0], kind.name)
        if name in FUNCTIONS:
            return function(name, values[0])
        match name:
            case "select":
                return select(*values)
            case "abs":
                return unary("abs", values[0])
            case "clamp":
                return binary("min", binary("max", values[0], values[1]), values[2])
        total = values[0]
        for v in values[1:]:
            total = binary(name, total, v)
        return total

    def parts(self, e: ast.Expr, env: Env) -> list[Number]:
        """The values of a tuple."""
        match e:
            case ast.Tuple(items=items):
                return [self.value(i, env) for i in items]
            case ast.Let(name=name, value=inner, body=body):
                return self.parts(body, {**env, name.text: self.value(inner, env)})
            case ast.Call(name=name, args=args) if name.text == "select":
                c, a, b = (
                    self.value(args[0], env),
                    self.parts(args[1], env),
                    self.parts(args[2], env),
                )
                return [select(c, x, y) for x, y in zip(a, b, strict=True)]
            case ast.Call(name=name, args=args):
                of = env.get(name.text, self.functions.get(name.text))
                if isinstance(of, ast.Function):
                    return self.parts(of.value, self.bound(of, args, env))
                return [self.value(e, env)]
            case _:
                return [self.value(e, env)]

    def reduction(self, e: ast.Reduction, env: Env) -> Number:
        total, op = STARTS[e.name.text]
        over = [
            (o.name.text, o.interval) if isinstance(o, ast.Domain) else (o.text, self.reduces[o.text])
            for o in e.over if isinstance(o, ast.Domain | ast.Name)
        ]  # fmt: skip
        t = self.typed(e.term, {**env, **{name: np.int64(0) for name, _ in over}})
        total = total if t is None else cast(total, t)
        if self.typing:
            return total if t is None else Typed(t)
        for inner in self._along(over, env):
            if e.condition is None or self.value(e.condition, inner):
                total = binary(op, total, self.value(e.term, inner))
        return total

    def _along(
        self, over: list[tuple[str, ast.Interval]], env: Env, kind: Callable[[int], Any] = np.int64
    ) -> Iterator[Env]:
        """The names with each of their values, the first outermost."""
        if not over:
            yield env
            return
        name, i = over[0]
        start = 0 if i.start is None else self.value(i.start, env)
        stop = self.value(i.stop, env)
        if start is not BEYOND and stop is not BEYOND:
            for n in range(int(start), int(stop)):
                yield from self._along(over[1:], {**env, name: kind(n)}, kind)

    # Funcs

    def element(self, func: Func, part: int) -> str | None:
        """Declared, or that of an output, of the formula, of the first update that has one; f32 or i32."""
        if part not in func.types:
            func.types[part] = None  # while it is being found out
            func.types[part] = self._element(func, part)
        return func.types[part]

    def _element(self, func: Func, part: int) -> str | None:
        first, env = func.steps[0]
        declared = first.type if part == 0 else first.others[part - 1].type
        if declared is not None:
            return self._kind(declared.text)
        if func.names[part] in self.outputs:
            return self._kind(self.outputs[func.names[part]].type.text)
        own = {**env, **dict.fromkeys([*func.variables, *self.reduces], np.int64(0))}
        found = [
            self.types(partial(self.parts, s.value, {**own, **e}))[part] for s, e in func.steps
        ]
        known = [t for t in map(type_of, found) if t]
        return known[0] if known else "f32" if isinstance(found[0], float) else "i32"

    def at(self, func: Func, point: Point) -> list[Number]:
        """The values at a point: of what has updates, those of a box around it, which grows."""
        if len(func.steps) == 1:
            if point not in func.store:
                func.store[point] = self._pure(func, point)
            return func.store[point]
        if point not in func.store:
            if func.filling:
                raise Enlarge(func, point)
            self.fill(func, point)
        return func.store[point]

    def fill(self, func: Func, point: Point) -> None:
        func.filling = True
        while True:
            func.box = around(func.box, point)
            try:
                func.store = {at: self._pure(func, at) for at in itertools.product(*func.box)}
                for step, env in func.steps[1:]:
                    self.update(func, step, env)
                break
            except Enlarge as e:
                if e.func is not func:
                    raise
                point = e.point
        func.filling = False

    def _pure(self, func: Func, point: Point) -> list[Number]:
        step, env = func.steps[0]
        own = {**env, **dict(zip(func.variables, map(np.int64, point), strict=True))}
        values = self.parts(step.value, own)
        return [cast(v, str(self.element(func, n))) for n, v in enumerate(values)]

    def update(self, func: Func, step: ast.Definition, env: Env) -> None:
        """Every point that stands alone on the left, and there the reductions in their order."""
        names = free(step) | ({step.ends.text} if step.ends else set())
        while True:
            more = {n for r in names & self.reduces.keys() for n in free(self.reduces[r])} - names
            if not more:
                break
            names |= more
        over = [(r, i) for r, i in self.reduces.items() if r in names and r not in env]
        plain = [
            isinstance(i, ast.Name) and i.text == v
            for i, v in zip(step.indices, func.variables, strict=True)
        ]
        assert func.box is not None
        for at in itertools.product(
            *(b if p else (0,) for b, p in zip(func.box, plain, strict=True))
        ):
            own = {**env}
            own |= {v: np.int64(n) for v, n, p in zip(func.variables, at, plain, strict=True) if p}
            for inner in self._along(over, own):
                if self._step(func, step, inner):
                    break

    def _step(self, func: Func, step: ast.Definition, env: Env) -> bool:
        """One step; whether it was the one that ends them."""
        found = [self.value(i, env) for i in step.indices]
        if BEYOND in found:
            return False
        point = tuple(map(int, found))
        if point not in func.store:
            return False
        if step.condition is not None:
            holds = self.value(step.condition, env)
            if holds is BEYOND:
                func.store[point] = [BEYOND] * len(func.names)
            if holds is BEYOND or not holds:
                return step.ends is not None
        values = self.parts(step.value, env)
        kinds = [str(self.element(func, n)) for n in range(len(func.names))]
        if step.op != "=":
            old, op = func.store[point], step.op.removesuffix("=")
            values = [binary(op, o, cast(v, t)) for o, v, t in zip(old, values, kinds, strict=True)]
        func.store[point] = [cast(v, t) for v, t in zip(values, kinds, strict=True)]
        return False

    def result(self, name: str) -> np.ndarray[Any, Any]:
        """An output."""
        declared = self.outputs[name]
        shape = tuple(int(self.value(e, {})) for e in declared.extents)
        out = np.empty(shape, KINDS[self._kind(declared.type.text)])
        func, part = self.funcs[name]
        if len(func.steps) > 1 and out.size:
            func.box = tuple(map(range, shape))
        for at in np.ndindex(*shape):
            value = self.at(func, at)[part]
            assert value is not BEYOND, f"{name}{list(at)} depends on what is beyond an input"
            out[at] = value
        return in_4_bits(out) if declared.type.text in ("i4", "u4") else out
