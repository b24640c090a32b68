"""How a kernel looks in a notebook: its arrays, its loops with what they should cost and what bounds
them, the roof over all, and the code."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from hbc.frontend.program.declared import declared_type
from hbc.ir.lang.target import GPU

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled


def as_html(compiled: Compiled, loops: str, threads: int) -> str:
    """Tables of the arrays and of the loops, the loop nest, and the code folded away; what the example has as
    sizes decides about costs. `threads` is how many the roof is of. Colours are the notebook's."""
    p, target, source = compiled.chosen.pipeline, compiled.chosen.target, compiled.source
    rows = [("input", i) for i in p.inputs] + [("output", o) for o in p.outputs]
    arrays = "".join(
        f"<tr><td>{kind}</td><td><code>{escape(image.name)}</code></td>"
        f"<td><code>{escape(declared_type(image))}</code></td></tr>"
        for kind, image in rows
    )
    language = "CUDA" if target.machine == GPU else "C"
    lines = source.text.count("\n")
    return (
        f"<div><b><code>{escape(source.name)}</code></b> for {escape(target.name)}, "
        f"schedule {escape(compiled.chosen.schedule_name)}"
        f"<table>{arrays}</table>"
        f"<pre>{escape(loops.rstrip())}</pre>"
        f"{'' if target.machine == GPU else _costs(compiled, threads)}"
        f"<details><summary>{language} ({lines} lines)</summary><pre>{escape(source.text)}</pre>"
        "</details></div>"
    )


def _costs(compiled: Compiled, threads: int) -> str:
    """About how many cycles each loop takes and why, and what this machine can do at most."""
    from hbc.cli.page.loops import costs_of, count_text, listed
    from hbc.cli.page.page import example_sizes
    from hbc.cli.page.roof import roof

    p = compiled.chosen.pipeline
    sizes = example_sizes(p)
    rows = []
    for loop in listed(costs_of(compiled.kernel, compiled.chosen.target, sizes)):
        cost = loop.cost
        cells = ["" if loop.runs is None else count_text(loop.runs)]
        cells += ["", "", ""]
        if cost is not None and cost.cycles:
            cells[1:] = count_text(cost.cycles), count_text(cost.bytes), cost.bound
        name = f"<code>{'&nbsp;' * 2 * loop.depth}{escape(loop.text)}</code>"
        rows.append(f"<tr><td>{name}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    at = ", ".join(f"{name} = {n}" for name, n in sizes.items())
    names = ("loop", "runs", "cycles, at least", "bytes", "bound by")
    head = "".join(f"<th>{name}</th>" for name in names)
    found = roof(p, sizes, threads)
    said = found if isinstance(found, str) else found.said
    title = f"<p>At {escape(at)}:</p>" if at else ""
    return f"{title}<table><tr>{head}</tr>{''.join(rows)}</table><p>{escape(said)}</p>"
