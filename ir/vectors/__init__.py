"""A vector expression seen lane by lane: offsets, masks, rows, which lanes are live."""
