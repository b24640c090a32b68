"""Formatting keeps meaning and comments, and formatting twice changes nothing more."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbc.frontend.text.fmt import format_source
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = sorted((ROOT / "samples").rglob("*.hb"))


def formatted(text: str) -> str:
    return format_source(Source("test.hb", text))


def test_the_version_keeps_a_line_of_its_own() -> None:
    text = "# About it.\nhbc 1\n\nsize   N\ninput  hbc: f32[N]\noutput B: f32[N]\nB[i] = hbc[i]\n"
    assert formatted(text.replace("hbc 1\n\n", "hbc \t 1;")) == text.replace("1\n\n", "1\n")
    assert formatted(text) == text
    assert parse(Source("a.hb", text)) == parse(Source("a.hb", text.replace("hbc 1", "")))


def test_everything_at_once() -> None:
    before = """size M,N; size K  ; input A:f32[M,K] # hi
input  B : f32 [ K,N ]
output  C:f32[M,N]



reduce k in 0..K
acc[i,j]=-1; acc[i , j]+=A[i,k]*B[ k,j ]
   where i<2&&!(j>3)   # where
 # inside?
C[i,j]=select(acc[i,j]>0,- acc[i,j],
  acc[i,j]
  # amid
  +1)
P=clamp_edge( A )
table D:f32[2,2]=[[1,2],
  [3,-4]]
table E: f32[2] [x]=cos(x)
schedule s for c{acc.update.reorder( k,i,j ).unroll(j,4,tail=guard);C.unroll(j)}
schedule t for c

{

 # first
   acc.update(0).reorder( k,i,j ) # tr
     .unroll(j)
   C.unroll(j); B.in(acc).bound(i,0,4)

}
example{M=1;N=2;K=3;A=random(1,-1,1);B=ramp()}
example big {M=1;N=2;K=3
A=random(1,-1,1); # x
   B=ramp()
}
# the end
"""
    after = """size   M, N
size   K
input  A: f32[M, K]  # hi
input  B: f32[K, N]
output C: f32[M, N]

reduce k in 0 .. K
acc[i, j]  = -1
acc[i, j] += A[i, k] * B[k, j]
    where i < 2 and not (j > 3)  # where
# inside?
C[i, j] = select(acc[i, j] > 0, -acc[i, j],
    acc[i, j]
    # amid
    + 1)
P = clamp_edge(A)
table D: f32[2, 2] = [[1, 2],
    [3, -4]]
table E: f32[2] [x] = cos(x)
schedule s for c { acc.update.reorder(k, i, j).unroll(j, 4, tail = guard); C.unroll(j) }
schedule t for c {
    # first
    acc.update(0).reorder(k, i, j)  # tr
        .unroll(j)
    C.unroll(j); B.in(acc).bound(i, 0, 4)
}
example { M = 1; N = 2; K = 3; A = random(1, -1, 1); B = ramp() }
example big {
    M = 1; N = 2; K = 3
    A = random(1, -1, 1)  # x
    B = ramp()
}
# the end
"""
    assert formatted(before) == after
    assert formatted(after) == after


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_samples(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    once = formatted(text)
    assert formatted(once) == once
    assert comments(once) == comments(text)


def test_syntax_errors_are_reported() -> None:
    with pytest.raises(HbcError):
        formatted("size M N")


def test_nothing_stays_nothing() -> None:
    assert formatted("") == ""
    assert formatted("\n\n  # only a comment \n\n\n") == "# only a comment\n"


def comments(text: str) -> list[str]:
    return [line.partition("#")[2].strip() for line in text.split("\n") if "#" in line]


NAMES = st.sampled_from(["a", "b", "x", "size2", "in_", "pi"])


def expressions() -> st.SearchStrategy[str]:
    """Expressions of every kind, as text without superfluous blanks."""
    leaf = st.one_of(
        NAMES, st.integers(0, 99).map(str), st.sampled_from(["1.5", "1e-3", "0xff", "true", "2."])
    )
    binary = st.sampled_from(
        ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", " and ", "||", "&&", " or "]
    )
    compare = st.sampled_from(["<", "<=", "==", "!=", ">", ">="])

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, binary, inner).map("".join),
            st.tuples(inner, compare, inner).map(lambda t: f"({''.join(t)})"),
            st.tuples(st.sampled_from(["-", "~", "not ", "!"]), inner).map("".join),
            inner.map(lambda e: f"({e})"),
            st.tuples(NAMES, st.lists(inner, min_size=1, max_size=3)).map(
                lambda t: f"{t[0]}[{','.join(t[1])}]"
            ),
            st.tuples(NAMES, st.lists(inner, max_size=3)).map(
                lambda t: f"{t[0]}({','.join(t[1])})"
            ),
            inner.map(lambda e: f"clamp_edge(a)[{e}]"),
            st.tuples(inner, inner).map(lambda t: f"(let k={t[0]} in {t[1]})"),
        )

    return st.recursive(leaf, grow, max_leaves=12)


def with_breaks(text: str, breaks: list[int]) -> str:
    """The text with line breaks and comments put where commas stand."""
    parts = text.split(",")
    glue = [(",", ",\n", ", # note\n", ",\n\n  # own line\n")[b % 4] for b in breaks]
    return "".join(
        part
        + (glue[at % len(glue)] if glue and at + 1 < len(parts) else "," * (at + 1 < len(parts)))
        for at, part in enumerate(parts)
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["f[x]=", "g[x,y]+=", "long_name[x]min=", "h: f32[x] = "]),
            expressions(),
            st.sampled_from(["\n", ";", "\n\n\n", "  # said\n", "\n# alone\n", " "]),
        ),
        max_size=5,
    ),
    st.lists(st.integers(0, 3), max_size=4),
)
def test_any_program(lines: list[tuple[str, str, str]], breaks: list[int]) -> None:
    text = "".join(left + with_breaks(value, breaks) + end for left, value, end in lines)
    try:
        tree = parse(Source("test.hb", text))
    except HbcError:  # comparisons chain, such as `a < b == c` made of two parts
        return
    once = formatted(text)
    assert parse(Source("test.hb", once)) == tree
    assert formatted(once) == once
    assert comments(once) == comments(text)
