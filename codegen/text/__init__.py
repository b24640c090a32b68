"""C text for any machine: the unit, scalars, names, helpers, instructions by their templates."""
