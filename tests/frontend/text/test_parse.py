"""Pins the tree that each construct of the language parses to."""

import pytest

from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source


def statements(text: str) -> tuple[ast.Statement, ...]:
    return parse(Source("test.hb", text)).statements


def spelled(e: object) -> str:
    """The tree with all parentheses."""
    match e:
        case ast.Name(text=text):
            return text
        case ast.Number(value=value) | ast.Boolean(value=value):
            return str(value).lower()
        case ast.Text(value=value):
            return f'"{value}"'
        case ast.Access(name=name, indices=indices):
            return f"{name.text}[{', '.join(map(spelled, indices))}]"
        case ast.Call(name=name, args=args):
            return f"{name.text}({', '.join(map(spelled, args))})"
        case ast.EdgeAccess(name=name, args=args, indices=indices):
            inner = ", ".join(map(spelled, args))
            return f"{name.text}({inner})[{', '.join(map(spelled, indices))}]"
        case ast.Unary(op=op, a=a):
            return f"({op} {spelled(a)})"
        case ast.Binary(op=op, a=a, b=b):
            return f"({spelled(a)} {op} {spelled(b)})"
        case ast.Let(name=name, value=value, body=body):
            return f"(let {name.text} = {spelled(value)} in {spelled(body)})"
        case _:
            raise AssertionError(e)


def expression(text: str) -> str:
    (only,) = statements(f"f[x] = {text}")
    assert isinstance(only, ast.Definition)
    return spelled(only.value)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b % c * d", "(((a / b) % c) * d)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("-a * b", "((- a) * b)"),
        ("- -a", "(- (- a))"),
        ("a - -b", "(a - (- b))"),
        ("~a & b", "((~ a) & b)"),
        ("a & b == c", "((a & b) == c)"),
        ("a | b ^ c & d << e + f", "(a | (b ^ (c & (d << (e + f)))))"),
        ("a << b >> c", "((a << b) >> c)"),
        ("not a and b or c", "(((not a) and b) or c)"),
        ("a or b and c", "(a or (b and c))"),
        ("!a && b || c", "(((not a) and b) or c)"),
        ("not a == b", "(not (a == b))"),
        ("a < b and b < c", "((a < b) and (b < c))"),
        ("a + not b", "(a + (not b))"),
        ("a != b", "(a != b)"),
        ("A[x - 1, y]", "A[(x - 1), y]"),
        ("clamp_edge(A)[x, -1]", "clamp_edge(A)[x, (- 1)]"),
        ("select(a, b, c)", "select(a, b, c)"),
        ("random()", "random()"),
        ("let t = a + b in t * t", "(let t = (a + b) in (t * t))"),
        ("1 + (let t = a in t) + 1", "((1 + (let t = a in t)) + 1)"),
        ("let t = a in let u = t in u", "(let t = a in (let u = t in u))"),
        ("true and false", "(true and false)"),
        ('"text # no comment"', '"text # no comment"'),
        ("a\n  +\n  b  # comment\n", "(a + b)"),
    ],
)
def test_expressions(text: str, tree: str) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("1_000", 1000), ("0xff", 255), ("0XF_F", 255), ("1e3", 1000.0),
        ("1e-3", 0.001), ("1.5", 1.5), ("2.", 2.0), (".5", 0.5), ("1.5E+2", 150.0), ("007", 7),
    ],
)  # fmt: skip
def test_numbers(text: str, value: int | float) -> None:
    (only,) = statements(f"f[x] = {text}")
    assert isinstance(only, ast.Definition)
    assert isinstance(only.value, ast.Number)
    assert only.value.value == value
    assert type(only.value.value) is type(value)


def test_declarations() -> None:
    found = statements(
        "kernel k; size M, N param a: f32 = 1; type T = bf16\n"
        "input A: T[M, N + 1] output C: f32[M]\n"
        'require M <= N, "too small" require M > 1\n'
        "bound A in 0 .. N reduce k in N, r in 1..M"
    )
    names = [type(s).__name__ for s in found]
    assert names == [
        "Kernel", "Sizes", "Param", "TypeParam", "Input", "Output", "Require", "Require", "Bound",
        "Reduce",
    ]  # fmt: skip
    reduce = found[-1]
    assert isinstance(reduce, ast.Reduce)
    assert [(d.name.text, d.interval.start is None) for d in reduce.domains] == [
        ("k", True),
        ("r", False),
    ]
    require = found[6]
    assert isinstance(require, ast.Require)
    assert require.message == "too small"


def test_tables() -> None:
    first, second = statements(
        "table W: f32[2, 2] = [[1, 2], [3, 4,],]\ntable D: f32[4] [u] = cos(u)"
    )
    assert isinstance(first, ast.Table)
    assert isinstance(first.value, ast.Cells)
    assert first.variables is None
    assert len(first.value.cells) == 2
    assert isinstance(second, ast.Table)
    assert second.variables is not None
    assert spelled(second.variables[0]) == "u"


@pytest.mark.parametrize("op", ["=", "+=", "*=", "min=", "max=", "|=", "&=", "^="])
def test_updates(op: str) -> None:
    (only,) = statements(f"f[x, I[r]] {op} g[x] where x > 2 and r < 3")
    assert isinstance(only, ast.Definition)
    assert only.op == op
    assert [spelled(i) for i in only.indices] == ["x", "I[r]"]
    assert spelled(only.condition) == "((x > 2) and (r < 3))"


def test_typed_definition_and_alias() -> None:
    definition, alias = statements("f: i32[x] = 0\nP = clamp_edge(A)")
    assert isinstance(definition, ast.Definition)
    assert definition.type is not None
    assert definition.type.text == "i32"
    assert isinstance(alias, ast.Alias)
    assert spelled(alias.value) == "clamp_edge(A)"


def test_schedules() -> None:
    (only,) = statements(
        "schedule s for c, avx2 {\n acc.update(1).split(i, io, ii, 8, tail = mask)\n"
        "   .bound(i, 0, 4); B.in(acc).compute_at(C.update, jo)\n}"
    )
    assert isinstance(only, ast.Schedule)
    assert [t.text for t in only.targets] == ["c", "avx2"]
    assert only.lines is not None
    assert [[s.name.text for s in line.steps] for line in only.lines] == [
        ["update", "split", "bound"],
        ["in", "compute_at"],
    ]
    split, compute = only.lines[0].steps[1], only.lines[1].steps[1]
    assert split.args is not None
    assert isinstance(split.args[-1], ast.Option)
    assert compute.args is not None
    assert isinstance(compute.args[0], ast.Line)


def test_examples() -> None:
    first, second = statements(
        'example { M = 4; A = random(1) }\nexample big { A = file("a.png") }'
    )
    assert isinstance(first, ast.Example)
    assert first.name is None
    assert isinstance(second, ast.Example)
    assert second.name is not None
    assert second.name.text == "big"


def test_names_that_begin_like_keywords() -> None:
    assert expression("sizes + inputs + format + letter + android") == (
        "((((sizes + inputs) + format) + letter) + android)"
    )


def test_newlines_and_semicolons_do_not_matter() -> None:
    apart = "size N\ninput A: f32[N]\n\n\nf[x] = A[x]\n;;\nf[x] += 1\n"
    together = "size N input A: f32[N] f[x] = A[x] f[x] += 1"
    assert statements(apart) == statements(together)
    assert statements(apart.replace("\n", "\r\n")) == statements(together)


def test_spans_point_at_the_source() -> None:
    text = "size N\nf[x] = (a + b) * c"
    definition = statements(text)[1]
    assert isinstance(definition, ast.Definition)
    assert definition.span.text == "f[x] = (a + b) * c"
    assert isinstance(definition.value, ast.Binary)
    assert definition.value.a.span.text == "(a + b)"


def test_an_empty_file_is_a_file() -> None:
    assert statements("") == ()
    assert statements("# nothing\n") == ()
