size N
input A: f32[N]
output B: f32[N]
require 3 < 2, "impossible"
B[i] = A[i]
