size   N
input  A: f32[N]
output B: f32[N] aliases A
reduce k in N
f[i] = A[i]
B[i]  = 0
B[i] += f[k]
schedule s for c { f.compute_root() }
