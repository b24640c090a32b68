size   N
input  A: f32[N]
input  A2: f32[N]
input  A3: f32[N]
output B: f32[N] aliases A
output C: f32[N] aliases A2
output D: f32[N] aliases A3
B[i] = A[i]
C[i] = A2[i]
D[i] = A3[i]
