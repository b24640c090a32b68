size N
input A: f32[N, N]
output B: f32[N]
P = wrap(A)
B[i] = P[i, 0] + mirror(A)[i, 0]
