"""The checker of proofs that `hbc synth --proof` writes: it imports nothing of hbc but itself."""
