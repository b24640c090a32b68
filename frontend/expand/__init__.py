"""What the checker never sees: functions and imports, written out as definitions alone."""
