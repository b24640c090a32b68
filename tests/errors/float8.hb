size   N
input  A: f8e4m3[N]
input  B: f8e5m2[N]
output C: f8e4m3[N]
output D: f8e5m2[N]
output E: f8e4m3[N]
output F: u8[N]
output G: f8e4m3[N]
output H: e4m3[N]
C[i] = A[i] & A[i]
D[i] = ~B[i]
E[i] = A[i] + B[i]
F[i] = A[i] << 2
G[i] = A[i] * 500 + inf
H[i] = f8e4m3(B[i])
