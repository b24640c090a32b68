size N
input A: i32[N]
input E: f64[N]
output B: f32[N]
output C: i32[N]
output D: f32[N]
output F: f32[N]
output G: f32[N]
B[i] = f32(A[i]) ** f32(A[0])
C[i] = 1 << A[i]
D[i] = f32(E[i]) ** f32(E[0])
F[i] = f32(A[i]) ** -1
G[i] = 1.0 / 2 ** 1
