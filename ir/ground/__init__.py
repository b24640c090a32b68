"""What everything stands on: records, sources and their spans, diagnostics, printable text. It imports
nothing of hbc outside of this room."""
