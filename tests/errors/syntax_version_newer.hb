# Refused by its version, not by what is new in it.
hbc 2

size N
input A: f32[N]
output B: f32[N] = A <- something new
