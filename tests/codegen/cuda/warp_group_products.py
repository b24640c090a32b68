"""Products by groups of four warps: matrices that lie by rows or by columns, and their schedule."""

from __future__ import annotations

ORDERS = ("ik kj", "ik jk", "ki kj", "ki jk")
"""How A and B lie."""

_PRODUCT = """
input  {A}: {t}[{rows_of_a}]
input  {B}: {t}[{rows_of_b}]
output {C}: f32[M, N]
{acc}[i, j]  = 0
{acc}[i, j] += f32({A}[{a}]) * f32({B}[{b}])
{C}[i, j]    = {acc}[i, j]
"""

_SCHEDULE = """
    {C}.tile(i, j, io, jo, ii, ji, 128, {n}{tail}).split(ii, iw, iv, 64)
    {C}.gpu_blocks(io, jo).gpu_threads(iw).vectorize(iv).vectorize(ji)
    {acc}.compute_at({C}, jo).store_in(wgmma_accumulator)
    {acc}.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(j)
    {acc}.update.split(k, ko, ki, 64{tail}).split(ki, kt, kv, 16).split(i, iw, iv, 64)
    {acc}.update.reorder(ko, iw, kt, iv, j, kv).gpu_threads(iw).pipeline(ko, {stages})
    {acc}.update.unroll(kt).atomic().vectorize(iv).vectorize(j).vectorize(kv)
    {A}.in({acc}).compute_at({acc}.update, ko).store_in(shared).vectorize({last_of_a}, 8){bulk}
    {B}.in({acc}).compute_at({acc}.update, ko).store_in(shared).vectorize({last_of_b}, 8){bulk}
"""


def program(
    t: str, n: int, orders: tuple[str, ...], stages: int = 3, tail: str = "", bulk: bool = False
) -> str:
    """Products of type `t` in tiles of 128 x n, one for each order of A and B."""
    products, schedules = "", ""
    for number, order in enumerate(orders):
        a, b = order.split()
        extent = {"i": "M", "j": "N", "k": "K"}
        names = {
            "A": f"A{number}", "B": f"B{number}", "C": f"C{number}", "acc": f"acc{number}", "t": t,
            "n": n, "a": ", ".join(a), "b": ", ".join(b), "stages": stages,
            "bulk": ".copy_in_bulk()" if bulk else "",
            "tail": f", tail = {tail}" if tail else "",
            "rows_of_a": ", ".join(extent[v] for v in a), "rows_of_b": ", ".join(extent[v] for v in b),
            "last_of_a": a[-1], "last_of_b": b[-1],
        }  # fmt: skip
        products += _PRODUCT.format(**names)
        schedules += _SCHEDULE.format(**names)
    return f"size M, N, K\nreduce k in K\n{products}\nschedule s for cuda {{{schedules}}}\n"
