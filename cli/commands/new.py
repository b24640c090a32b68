"""`hbc new`: writes a commented start of a kernel or a sketch."""

from __future__ import annotations

from pathlib import Path

import click

from hbc.ir.ground.diag import Diagnostic, UsageError

STARTS = Path(__file__).parents[1] / "starts"
KINDS = {"gemm": ".hb", "stencil": ".hb", "reduction": ".hb"}


@click.command("new")
@click.argument("kind", type=click.Choice(tuple(KINDS)))
@click.argument("file", required=False, type=click.Path(path_type=Path))
def command(kind: str, file: Path | None) -> None:
    """Write a commented kernel to begin with, to FILE [default: KIND.hb]; it runs as it is.

    A file that is there is left alone.
    """
    from hbc.cli.files.replace_file import write_text

    out = file or Path(kind + KINDS[kind])
    if out.exists() or out.is_symlink():
        hint = f"name another file: hbc new {kind} FILE"
        raise UsageError(Diagnostic(f"`{out}` is there already", hint=hint))
    write_text(out, (STARTS / f"{kind}{KINDS[kind]}").read_text(encoding="utf-8"))
    click.echo(
        f"wrote {out}: try `hbc run {out}`, `hbc verify {out}`, `hbc compile {out}`", err=True
    )
