"""Which elements the tiles of several products hold, so that all agree."""
