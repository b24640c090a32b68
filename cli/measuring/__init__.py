"""Schedules as candidates: guarded, compiled side by side, run apart, measured in turns."""
