"""What an editor asks about a file while it is written, without an editor: names, hovering, completion,
fixes. `hbc lsp` serves it."""
