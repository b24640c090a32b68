size N
input A: f32[N]
output B: f32[N]
bound A in 0 .. N
B[i] = A[i]
