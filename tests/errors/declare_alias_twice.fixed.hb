size   N
input  A: f32[N]
input  W: f32[N]
input  s: f32
output B: f32[N] aliases A
output C: f32[N]
output D: f32[N] aliases W
output E: f32[N]
B[i] = A[i]
C[i] = 2
D[i] = W[i] + 1
E[i] = s
