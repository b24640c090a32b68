"""`hbc lsp`: the language server of editors, over stdin and stdout."""

from __future__ import annotations

import gc

import click

from hbc.ir.ground.diag import Diagnostic, ToolError


@click.command("lsp")
def command() -> None:
    """Serve an editor over stdin and stdout (Language Server Protocol).

    Mistakes as one types, types and loops under the cursor, definitions, names in all their places,
    completion of directives, formatting. Editors start it; see docs/editors.md.
    """
    try:
        import pygls  # noqa: F401
    except ImportError as missing:
        hint = "pip install 'hbc[lsp]'"
        raise ToolError(Diagnostic("the language server needs pygls", hint=hint)) from missing
    from hbc.cli.editor.server import server

    gc.disable()  # the server says when
    server().start_io()
