"""What the checker never sees: functions, imports and reductions in expressions, written out as
definitions alone."""
