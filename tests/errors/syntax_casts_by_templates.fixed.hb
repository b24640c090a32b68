size N
input A: f32[N]
output O: f32[N]
r[i] = f32(A[i])
O[i] = f32(u8(A[i])) + r[i]
