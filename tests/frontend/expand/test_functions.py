"""Functions, reductions in expressions and imports mean what is written out by hand."""

import re
from pathlib import Path

import pytest

from hbc.frontend.checks.check import check
from hbc.frontend.expand.expand import expand
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.show import show

HEAD = """
size   N, K
input  A: f32[N]
input  M: f32[N, K]
input  P: u8[N]
output O: f32[N]
reduce k in K
edge = clamp_edge(A)
"""


def pipeline(text: str, head: str = HEAD) -> Pipeline:
    return check(parse(Source("test.hb", head + text)), {})


def shown(p: Pipeline) -> list[str]:
    """Every definition as text, spans aside, and the numbers of names that `let`s get."""
    found = []
    for f in p.funcs:
        left = f"{f.name}: {f.element}[{', '.join(f.variables)}]"
        found.append(f"{left} = {show(f.pure)}")
        for u in f.updates:
            condition = f" where {show(u.condition)}" if u.condition is not None else ""
            along = ", ".join(f"{r.name} in {show(r.start)} + {show(r.extent)}" for r in u.reduce)
            found.append(f"{f.name}: {show(u.value)}{condition} along {along}")
    return [re.sub(r"\b([a-z])(_\d+)+\b", r"\1_", text) for text in found]


# What is written, and what it stands for.
SAME = [
    ("def avg(a, b) = (a + b) / 2\nO[i] = avg(A[i], 3)\n", "O[i] = (A[i] + 3) / 2\n"),
    # Functions call functions, defined before or after.
    (
        "def twice(x) = plus(x, x)\ndef plus(a, b) = a + b\nO[i] = twice(twice(A[i]))\n",
        "O[i] = let x = A[i] + A[i] in x + x\n",
    ),
    # A parameter may have any name that the caller uses, too.
    ("def f(i, j) = i * 10 + j\nO[j] = f32(f(j, j + 1))\n", "O[j] = f32(j * 10 + (j + 1))\n"),
    # Func-valued, on inputs, aliases of edges, Funcs and each other.
    ("def left(f)[x] = f[x - 1]\nO[i] = left(edge)[i + 2]\n", "O[i] = edge[i + 2 - 1]\n"),
    ("def left(f)[x] = f[x - 1]\nO[i] = left(left(edge))[i]\n", "O[i] = edge[i - 1 - 1]\n"),
    ("def left(f)[x] = f[x - 1]\nO[i] = left(clamp_edge(A))[i]\n", "O[i] = edge[i - 1]\n"),
    (
        "def left(f)[x] = f[x - 1]\nB = left(edge)\nO[i] = B[i]\n",
        "B[x] = edge[x - 1]\nO[i] = B[i]\n",
    ),
    ("def scaled(f, s)[x] = s * f[x]\nO = scaled(A, 3)\n", "O[x] = 3 * A[x]\n"),
    (
        "def at(f, i)[x] = f[i, x]\nO[q] = at(M, q)[0]\n",
        "O[q] = M[q, 0]\n",
    ),
    # A type may be an argument, and a function as well.
    ("def as(x, T) = T(x)\nO[i] = as(P[i], f32)\n", "O[i] = f32(P[i])\n"),
    (
        "def apply(f, x) = f(x)\ndef square(x) = x * x\nO[i] = apply(square, A[i])\n",
        "O[i] = A[i] * A[i]\n",
    ),
    # `let`s of a function have names of their own.
    (
        "def sq(x) = let t = x + 1 in t * t\nO[i] = let t = A[i] in sq(t) + t\n",
        "O[i] = let t = A[i] in (let t_2 = t + 1 in t_2 * t_2) + t\n",
    ),
    ("O[i] = 0\nO[i] -= M[i, k]\n", "O[i] = 0\nO[i] += -M[i, k]\n"),
    # Reductions.
    (
        "O[i] = 1 + sum(k: M[i, k])\n",
        "O_sum[i] = 0\nO_sum[i] += M[i, k]\nO[i] = 1 + O_sum[i]\n",
    ),
    (
        "O[i] = max(k: M[i, k] where k > 2)\n",
        "O_max[i] = -inf\nO_max[i] max= M[i, k] where k > 2\nO[i] = O_max[i]\n",
    ),
    (
        "O[i] = f32(min(k: P[k]))\nrequire K <= N\n",
        "O_min[at] = 255\nO_min[at] min= P[k]\nO[i] = f32(O_min[0])\nrequire K <= N\n",
    ),
    (
        "O[i] = select(any(k: M[i, k] < 0), 0, product(k: M[i, k]))\n",
        "O_any[i] = false\nO_any[i] |= M[i, k] < 0\nO_product[i] = 1\nO_product[i] *= M[i, k]\n"
        "O[i] = select(O_any[i], 0, O_product[i])\n",
    ),
    (
        "O[i] = sum(q in 1 .. K: M[i, q])\n",
        "reduce q in 1 .. K\nO_sum[i] = 0\nO_sum[i] += M[i, q]\nO[i] = O_sum[i]\n",
    ),
    # One inside another: the inner one depends on the outer variable, under a name of its own.
    (
        "O[i] = sum(k: M[i, k] * max(q in 0 .. K: M[k, q]))\nrequire K <= N\n",
        "reduce q in 0 .. K\nO_sum_max[k_2] = -inf\nO_sum_max[k_2] max= M[k_2, q]\n"
        "O_sum[i] = 0\nO_sum[i] += M[i, k] * O_sum_max[k]\nO[i] = O_sum[i]\nrequire K <= N\n",
    ),
    # A reduction in a function: its variable is no variable of the caller.
    (
        "def total(f, i) = sum(q in K: f[i, q])\nO[q] = total(M, q)\n",
        "reduce q_1 in K\nO_sum[q] = 0\nO_sum[q] += M[q, q_1]\nO[q] = O_sum[q]\n",
    ),
]


@pytest.mark.parametrize(("short", "long"), SAME)
def test_it_is_what_is_written_out(short: str, long: str) -> None:
    assert shown(pipeline(short)) == shown(pipeline(long))


def test_a_program_without_them_is_not_touched() -> None:
    file = parse(Source("test.hb", HEAD + "O[i] = A[i]\n"))
    assert expand(file, {}) is file


def test_a_schedule_places_reductions_by_their_names() -> None:
    """Naming one in a schedule does not take the name; a Func of the file does."""
    line = "schedule s for c { O_sum.compute_root(); O_sum_2.compute_root() }\n"
    p = pipeline(f"O[i] = sum(k: M[i, k]) + sum(k: M[i, k] * 2)\n{line}")
    assert [f.name for f in p.funcs] == ["O_sum", "O_sum_2", "O"]
    assert [str(one.stage.name) for one in p.schedules[0].lines] == ["O_sum", "O_sum_2"]
    p = pipeline(f"O_sum[i] = A[i]\nO[i] = sum(k: M[i, k]) + O_sum[i]\n{line}")
    assert {f.name for f in p.funcs} == {"O_sum", "O_sum_2", "O"}


def test_nested_calls_do_not_grow_without_end() -> None:
    """Each level reads its argument twice: written out, 2^20 reads; by `let`s, a line each."""
    levels = "".join(f"def level{n}(x) = level{n - 1}(x + x * x)\n" for n in range(1, 21))
    text = f"def level0(x) = x\n{levels}O[i] = level20(A[i])\n"
    assert len(show(pipeline(text).funcs[-1].pure)) < 20_000


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path) -> Pipeline:
    return check(parse(Source(str(path), path.read_text(encoding="utf-8"))), {})


def test_imports_are_relative_to_the_file_and_come_once(tmp_path: Path) -> None:
    write(tmp_path, "lib/a.hb", 'import "b.hb"\nimport "../c.hb"\ndef a(x) = b(x) + c(x)\n')
    write(tmp_path, "lib/b.hb", 'import "../c.hb"\nparam B: f32 = 2\ndef b(x) = c(x) * B\n')
    write(tmp_path, "c.hb", "table T: f32[2] = [3, 4]\ndef c(x) = x + T[1]\n")
    main = write(tmp_path, "main.hb", f'import "lib/a.hb"\nimport "c.hb"\n{HEAD}O[i] = a(A[i])\n')
    by_hand = "O[i] = (A[i] + T[1]) * 2 + (A[i] + T[1])\n"
    want = pipeline("table T: f32[2] = [3, 4]\n" + by_hand)
    assert shown(load(main))[-1] == shown(want)[-1]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"main.hb": 'import "main.hb"\n'}, "main.hb:1:1: error: `main.hb` imports itself\n"),
        (
            {"main.hb": 'import "a.hb"\n', "a.hb": 'import "main.hb"\n'},
            "a.hb:1:1: error: `main.hb` imports itself, by way of this import\n",
        ),
        ({"main.hb": 'import "b.hb"\n', "a.hb": ""}, "main.hb:1:8: error: cannot import `b.hb`"),
        ({"main.hb": 'import "libs.hb"\n', "lib.hb": ""}, "hint: did you mean `lib.hb`?"),
        ({"main.hb": 'import "std/imag.hb"\n'}, "hint: did you mean `std/image.hb`?"),
        (
            {"main.hb": 'import "std/physics.hb"\n'},
            "hint: the library has `std/complex.hb`, `std/image.hb`, `std/math.hb`",
        ),
        (
            {"main.hb": 'import "a.hb"\n', "a.hb": "output X: f32[3]\nX[i] = 1\n"},
            "a.hb:1:1: error: `a.hb` is imported, and has more than functions, params and tables",
        ),
        (
            {"main.hb": 'import "a.hb"\n', "a.hb": "def f(x = 3\n"},
            "main.hb:1:1: note: it is imported here",
        ),
        ({"main.hb": 'import "a\0.hb"\n'}, "cannot import"),
        ({"main.hb": f'import "{"a" * 5000}.hb"\n'}, "cannot import"),
        ({"main.hb": 'import ""\n'}, "cannot import"),
    ],
)
def test_imports_that_fail(tmp_path: Path, files: dict[str, str], said: str) -> None:
    for name, text in files.items():
        write(tmp_path, name, text)
    with pytest.raises(HbcError) as caught:
        load(tmp_path / "main.hb")
    assert said in str(caught.value).replace(f"{tmp_path}/", "") + "\n"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.hb").write_bytes(b"\xff\xfe")
    main = write(tmp_path, "main.hb", 'import "a.hb"\n')
    with pytest.raises(HbcError, match=r"`a\.hb` is not UTF-8 text"):
        load(main)
