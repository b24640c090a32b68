"""What the checker accepts stays inside the arrays: random indices, tried at all small sizes."""

from hypothesis import given
from hypothesis import strategies as st

from hbc.frontend.checks.check import check
from hbc.frontend.program.constants import evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.nodes import Access, Expr
from hbc.ir.lang.walk import nodes

HEAD = "size M, N\ninput A: f32[N]\ninput Z: f32[M + N]\noutput B: f32[M]\nreduce r in 1 .. 4\n"


def indices() -> st.SearchStrategy[str]:
    """Index arithmetic over the variable i, the reduction r and the sizes."""
    leaf = st.sampled_from(["i", "r", "M", "N", "0", "1", "2", "7", "N - 1", "M - 1 - i"])
    number = st.integers(1, 4).map(str)

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, st.sampled_from(["+", "-"]), inner).map(lambda t: f"({' '.join(t)})"),
            st.tuples(inner, st.sampled_from(["*", "/", "%", ">>"]), number).map(
                lambda t: f"({' '.join(t)})"
            ),
            st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
                lambda t: f"{t[0]}({t[1]}, {t[2]})"
            ),
            inner.map(lambda e: f"clamp({e}, 0, N - 1)"),
            inner.map(lambda e: f"({e} % N)"),
            inner.map(lambda e: f"abs({e})"),
            inner.map(lambda e: f"-({e})"),
            st.tuples(inner, inner, inner).map(lambda t: f"select({t[0]} > 1, {t[1]}, {t[2]})"),
            inner.map(lambda e: f"(let k = {e} in k + k)"),
        )

    return st.recursive(leaf, grow, max_leaves=6)


def reads(e: Expr, known: dict[str, int]) -> list[tuple[str, int]]:
    """The inputs that the expression reads, and where."""
    found = []
    for n in nodes(e):
        if isinstance(n, Access) and n.name in "AZ":
            at = evaluate(n.indices[0], known)
            assert at is not None
            found.append((n.name, int(at)))
    return found


@given(
    index=indices(),
    read=st.sampled_from(
        ["A[{}]", "Z[{}]", "clamp_edge(A)[{}]", "mirror(A)[{}]", "wrap(Z)[{}]", "zero_edge(A)[{}]"]
    ),
    shift=st.integers(-2, 2),
)
def test_accepted_reads_stay_inside(index: str, read: str, shift: int) -> None:
    text = HEAD + f"f[i] = 0\nf[i] += {read.format(index)}\nB[x] = f[x + {shift}]\n"
    try:
        p = check(parse(Source("test.hb", text)), {})
    except HbcError:
        return
    (update,) = p.func("f").updates
    for m in range(1, 7):
        for n in range(7):
            sizes = {"M": m, "N": n}
            if not all(evaluate(q.condition, sizes) for q in p.requirements):
                continue
            extents = {"A": n, "Z": m + n}
            for i in range(shift, m + shift):
                for r in range(1, 4):
                    for name, at in reads(update.value, {**sizes, "i": i, "r": r}):
                        assert 0 <= at < extents[name], (text, sizes, i, r, at)
