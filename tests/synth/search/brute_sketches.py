"""Random small sketches as text, and every one of their solutions by plain enumeration.

Nothing here uses the synthesizer: gathers are the rows of tables, terms are strings and tuples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import prod

from hypothesis import strategies as st

Term = str | tuple["Term", ...] | None  # a symbol or "0", a multiset, no value
Row = tuple[int, ...]  # -1 is 0, -2 no value
Array = list[Term]


@dataclass
class Statement:
    """`rows` of a literal are empty; a fold has neither rows nor values."""

    name: str
    shape: tuple[int, ...]
    arguments: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    values: Array = field(default_factory=list)
    block: bool = False  # written inside of a block, which shares what it reads with others

    def written(self, expression: str) -> str:
        """Its definition."""
        if self.block:
            expression = f"{{ inner: {list(self.shape)} = {expression}; inner }}"
        return f"{self.name}: {list(self.shape)} = {expression}"

    @property
    def is_fold(self) -> bool:
        return not self.rows and not self.values


@dataclass
class Sketch:
    statements: list[Statement]
    goals: list[tuple[str, Array]]

    def text(self) -> str:
        lines: list[str] = []
        shapes = {s.name: s.shape for s in self.statements}
        for s in self.statements:
            shape = str(list(s.shape))
            if s.values:
                lines.append(f"{s.name}: {shape} = {nested([shown(v) for v in s.values], s.shape)}")
            elif s.is_fold:
                lines.append(s.written(f"fold {s.arguments[0]}"))
            else:
                table = ", ".join(f"[{', '.join(cell(i) for i in row)}]" for row in s.rows)
                names = [f"a{n}: {list(shapes[a])}" for n, a in enumerate(s.arguments)]
                lines.append(f"set set_{s.name}({', '.join(names)}) -> {shape} = table [{table}]")
                mark = "?" if len(s.rows) > 1 else ""
                lines.append(s.written(f"{mark}set_{s.name}({', '.join(s.arguments)})"))
        for target, values in self.goals:
            lines.append(f"goal {target} == {nested([shown(v) for v in values], shapes[target])}")
        return "\n".join(lines) + "\n"

    def solutions(self) -> int:
        """How many choices of distinct rows meet all goals."""
        choices = [list(dict.fromkeys(s.rows)) for s in self.statements if len(set(s.rows)) > 1]
        return sum(self.meets(chosen) for chosen in product(*choices))

    def meets(self, chosen: tuple[Row, ...]) -> bool:
        values = self.run(chosen)
        return all(
            wanted is None or held == wanted
            for target, cells in self.goals
            for held, wanted in zip(values[target], cells, strict=True)
        )

    def run(self, chosen: tuple[Row, ...]) -> dict[str, Array]:
        left = list(chosen)
        values: dict[str, Array] = {}
        for s in self.statements:
            inputs = [value for a in s.arguments for value in values[a]]
            if s.values:
                values[s.name] = s.values
            elif s.is_fold:
                length = len(inputs) // prod(s.shape)
                groups = [inputs[i : i + length] for i in range(0, len(inputs), length)]
                values[s.name] = [multiset(group) for group in groups]
            else:
                row = left.pop(0) if len(set(s.rows)) > 1 else s.rows[0]
                values[s.name] = [inputs[i] if i >= 0 else "0" if i == -1 else None for i in row]
        return values


def multiset(terms: Array) -> Term:
    if None in terms:
        return None
    kept = sorted((t for t in terms if t != "0"), key=repr)
    return tuple(kept) if kept else "0"


def shown(term: Term) -> str:
    if term is None:
        return "_"
    if isinstance(term, str):
        return term
    return f"fold{{{', '.join(shown(t) for t in term)}}}"


def cell(location: int) -> str:
    return {-1: "zero", -2: "_"}.get(location, str(location))


def nested(cells: list[str], shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"[{', '.join(cells)}]"
    step = len(cells) // shape[0]
    rows = [nested(cells[i : i + step], shape[1:]) for i in range(0, len(cells), step)]
    return f"[{', '.join(rows)}]"


@st.composite
def sketches(draw: st.DrawFn) -> Sketch:
    """Literals, then moves and folds that read any earlier array, goals that some choice meets or that
    have been changed afterwards."""
    statements: list[Statement] = []
    for number in range(draw(st.integers(1, 2))):
        size = draw(st.integers(1, 4))
        symbols = st.sampled_from(["x", "y", "z", "u", "0"])
        values: Array = list(draw(st.lists(symbols, min_size=size, max_size=size)))
        statements.append(Statement(f"lit{number}", (size,), values=values))
    room = 400  # choices
    for number in range(draw(st.integers(1, 6))):
        before = [s.name for s in statements]
        sizes = {s.name: s.shape for s in statements}
        matrices = [s.name for s in statements if len(s.shape) > 1]
        if matrices and draw(st.booleans()):
            source = draw(st.sampled_from(matrices))
            shape = sizes[source][:-1]
            block = draw(st.booleans())
            statements.append(Statement(f"fold{number}", shape, (source,), block=block))
            continue
        arguments = tuple(draw(st.lists(st.sampled_from(before), min_size=1, max_size=2)))
        shape = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)))
        count = sum(prod(sizes[a]) for a in arguments)
        location = st.one_of(st.integers(0, count - 1), st.integers(-2, count - 1))
        row = st.lists(location, min_size=prod(shape), max_size=prod(shape)).map(tuple)
        most = max(1, min(8, room))
        rows = tuple(draw(st.lists(row, min_size=1, max_size=most)))
        room //= max(1, len(set(rows)))
        block = draw(st.integers(0, 3)) == 0
        statements.append(Statement(f"v{number}", shape, arguments, rows, block=block))
    sketch = Sketch(statements, [])
    chosen = tuple(
        draw(st.sampled_from(list(dict.fromkeys(s.rows))))
        for s in statements
        if len(set(s.rows)) > 1
    )
    values_of = sketch.run(chosen)
    symbols_held = sorted({v for s in statements for v in s.values if isinstance(v, str)} - {"0"})
    targets = [s.name for s in statements]
    for _ in range(draw(st.integers(1, 2))):
        target = draw(st.sampled_from(targets[-3:]))
        cells = list(values_of[target])
        if symbols_held and draw(st.integers(0, 3)) == 0:
            cells[draw(st.integers(0, len(cells) - 1))] = draw(
                st.sampled_from([*symbols_held, "0"])
            )
        if draw(st.integers(0, 3)) == 0:
            cells[draw(st.integers(0, len(cells) - 1))] = None
        sketch.goals.append((target, cells))
    return sketch
