"""What an editor asks about a file while it is written: names, hovering, completion, fixes; `hbc lsp`
serves it."""
