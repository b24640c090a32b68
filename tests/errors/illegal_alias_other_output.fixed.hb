size   N
input  A: f32[N]
output B: f32[N] aliases A
output C: f32[N]
C[i] = A[i] + 1
B[i] = 2 * A[i]
