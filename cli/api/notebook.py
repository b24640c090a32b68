"""How a kernel looks in a notebook: its arrays, its loops, and where it runs."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from hbc.ir.lang.show import show

if TYPE_CHECKING:
    from hbc.cli.api.kernel import Kernel
    from hbc.frontend.program.funcs import Image


def as_html(kernel: Kernel) -> str:
    """A table of the arrays, the loop nest, and the code folded away. Colours are the notebook's."""
    p = kernel.compiled.chosen.pipeline
    rows = [("input", i) for i in p.inputs] + [("output", o) for o in p.outputs]
    arrays = "".join(
        f"<tr><td>{kind}</td><td><code>{escape(image.name)}</code></td>"
        f"<td><code>{escape(_type(image))}</code></td></tr>"
        for kind, image in rows
    )
    language = "CUDA" if kernel.target == "cuda" else "C"
    lines = kernel.source.count("\n")
    return (
        f"<div><b><code>{escape(kernel.name)}</code></b> for {escape(kernel.target)}, "
        f"schedule {escape(kernel.schedule)}"
        f"<table>{arrays}</table>"
        f"<pre>{escape(kernel.loops.rstrip())}</pre>"
        f"<details><summary>{language} ({lines} lines)</summary><pre>{escape(kernel.source)}</pre>"
        "</details></div>"
    )


def _type(image: Image) -> str:
    extents = ", ".join(show(e) for e in image.extents)
    return f"{image.element}[{extents}]"
