size   N, M
input  A: f32[N, M]
input  T: i16[N, M]
output B: f32[N, M + 1] aliases A
output C: i32[N, M] aliases T
B[i, j] = A[i, min(j, M - 1)]
C[i, j] = i32(T[i, j])
