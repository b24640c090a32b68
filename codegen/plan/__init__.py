"""What is decided before a line is printed: tile registers, repeated text as loops, widths of indices."""
