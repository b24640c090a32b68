"""The language of `.sf` sketches: from text to the problem that synthesis solves."""
