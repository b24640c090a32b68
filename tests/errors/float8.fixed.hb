size   N
input  A: f8e4m3[N]
input  B: f8e5m2[N]
output C: u8[N]
output D: f8e5m2[N]
output E: f32[N]
output F: u8[N]
output G: f8e4m3[N]
output H: f8e4m3[N]
C[i] = u8(A[i]) & u8(A[i])
D[i] = -B[i]
E[i] = f32(A[i]) + f32(B[i])
F[i] = u8(A[i]) << 2
G[i] = f8e4m3(f32(A[i]) * 500 + f32(inf))
H[i] = f8e4m3(B[i])
