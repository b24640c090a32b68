size N
input A: f32[N]
input X: i32[N]
output B: f32[N]
reduce r in N
f[i] = 0
f[i] += A[r]
f[i] += f32(X[r])
B[i] = f[i]
