"""Data movement as data: gathers, layout changes, sketches, tables of instructions that move elements."""
