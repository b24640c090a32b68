size   N
input  A: f32[N]
output B: f32[N] aliases A
f[i] = A[N - 1 - i]
B[i] = A[i] + f[i]
schedule s for c { f.compute_root() }
