"""The program evaluated straight from its definition by NumPy, without loops, with bounds of its errors."""
