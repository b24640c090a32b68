size   N
input  A: f32[N]
input  W: f32[N] constant
input  s: f32
output B: f32[N] aliases A
output C: f32[N] aliases A
output D: f32[N] aliases W
output E: f32[N] aliases s
B[i] = A[i]
C[i] = A[i]
D[i] = W[i]
E[i] = s
