"""`hbc new`: writes a commented start of a kernel or a sketch."""

from __future__ import annotations

from pathlib import Path

import click

from hbc.ir.ground.diag import Diagnostic, UsageError

STARTS = Path(__file__).parents[1] / "starts"
KINDS = {"gemm": ".hb", "stencil": ".hb", "reduction": ".hb", "sketch": ".sf"}
TRIED = {
    ".hb": ("hbc run {0}", "hbc verify {0}", "hbc compile {0}"),
    ".sf": ("hbc synth {0}", "hbc synth {0} --explain-cost", "hbc synth {0} -o sketch.c"),
}
"""What is worth trying first, by suffix."""


@click.command("new")
@click.argument("kind", type=click.Choice(tuple(KINDS)))
@click.argument("file", required=False, type=click.Path(path_type=Path))
def command(kind: str, file: Path | None) -> None:
    """Write a commented kernel or sketch to begin with, to FILE [default: KIND.hb or .sf]; it runs as it is.

    A file that is there is left alone.
    """
    from hbc.cli.files.replace_file import write_text
    from hbc.cli.show.report import notice

    out = file or Path(kind + KINDS[kind])
    if out.exists() or out.is_symlink():
        hint = f"name another file: hbc new {kind} FILE"
        raise UsageError(Diagnostic(f"`{out}` is there already", hint=hint))
    write_text(out, (STARTS / f"{kind}{KINDS[kind]}").read_text(encoding="utf-8"))
    tried = ", ".join(f"`{command.format(out)}`" for command in TRIED[KINDS[kind]])
    notice(f"wrote {out}: try {tried}")
