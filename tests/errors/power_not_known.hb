size N
input A: i32[N]
input E: f64[N]
output B: i32[N]
output C: i32[N]
output D: f64[N]
output F: i32[N]
output G: f32[N]
output H: i64[N]
B[i] = A[i] ** A[0]
C[i] = 2 ** A[i]
D[i] = E[i] ** E[0]
F[i] = A[i] ** -1
G[i] = f32(2 ** -1) * 0.0 ** -1
H[i] = 10 ** 40 + (A[i] > 0) ** 2
