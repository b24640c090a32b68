"""Arithmetic of indices and bounds: one normal form, facts, proofs and the rules of the simplifier. A
result is equal for all values of the names, or is not given."""
