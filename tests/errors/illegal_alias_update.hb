size   N
input  A: f32[N]
output B: f32[N] aliases A
reduce k in N
B[i]  = 0
B[i] += A[k]
