"""How a kernel looks in a notebook: its arrays, its loops, and where it runs."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from hbc.ir.lang.show import show
from hbc.ir.lang.target import GPU

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled
    from hbc.frontend.program.funcs import Image


def as_html(compiled: Compiled, loops: str) -> str:
    """A table of the arrays, the loop nest, and the code folded away. Colours are the notebook's."""
    p, target, source = compiled.chosen.pipeline, compiled.chosen.target, compiled.source
    rows = [("input", i) for i in p.inputs] + [("output", o) for o in p.outputs]
    arrays = "".join(
        f"<tr><td>{kind}</td><td><code>{escape(image.name)}</code></td>"
        f"<td><code>{escape(_type(image))}</code></td></tr>"
        for kind, image in rows
    )
    language = "CUDA" if target.machine == GPU else "C"
    lines = source.text.count("\n")
    return (
        f"<div><b><code>{escape(source.name)}</code></b> for {escape(target.name)}, "
        f"schedule {escape(compiled.chosen.schedule_name)}"
        f"<table>{arrays}</table>"
        f"<pre>{escape(loops.rstrip())}</pre>"
        f"<details><summary>{language} ({lines} lines)</summary><pre>{escape(source.text)}</pre>"
        "</details></div>"
    )


def _type(image: Image) -> str:
    extents = ", ".join(show(e) for e in image.extents)
    return f"{image.element}[{extents}]"
