size   N
input  A: f32[N]
output B: f32[N] aliases a
output C: f32[N] aliases B
output D: f32[N] aliases D
B[i] = A[i]
C[i] = A[i]
D[i] = A[i]
