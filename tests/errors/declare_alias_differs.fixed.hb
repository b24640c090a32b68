size   N, M
input  A: f32[N, M]
input  T: i16[N, M]
output B: f32[N, M] aliases A
output C: i16[N, M] aliases T
B[i, j] = A[i, j]
C[i, j] = T[i, j]
