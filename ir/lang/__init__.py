"""The language itself: nodes, types, walking, names, text."""
