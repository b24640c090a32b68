"""Text to syntax tree and back: the grammar of `.hb`, errors of syntax, formatting."""
