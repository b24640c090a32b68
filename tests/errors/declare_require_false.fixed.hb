size N
input A: f32[N]
output B: f32[N]
require 3 < N, "impossible"
B[i] = A[i]
