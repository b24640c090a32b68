"""`hbc tune`: schedules are made, compiled side by side, measured one at a time, and the best is kept."""
