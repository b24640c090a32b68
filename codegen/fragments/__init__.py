"""Fragments of tensor cores as the lanes of a warp have them; a block as one thread sees it."""
