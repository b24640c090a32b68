"""Sets of gathers: families, conditions, what instructions realize."""
