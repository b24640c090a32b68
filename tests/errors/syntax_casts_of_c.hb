size N
input A: f32[N]
output O: f32[N]
p[i] = (float)A[i]
q[i] = (unsigned char) (A[i] + 1)
r[i] = cast<float>(A[i])
s[i] = static_cast<uint8_t>(A[i])
t[i] = 1.0f * A[i]
u[i] = A[i] * 1e-3f + 2
v[i] = A[i]++
O[i] == A[i]
