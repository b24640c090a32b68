size N
input A: f32[N]
output O: f32[N]
p[i] = f32(A[i])
q[i] = u8(A[i] + 1)
t[i] = 1.0 * A[i]
u[i] = A[i] * 1e-3 + 2
O[i] = p[i] + f32(q[i]) + t[i] + u[i]
