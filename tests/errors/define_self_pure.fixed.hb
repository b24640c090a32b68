size N
input A: f32[N]
output B: f32[N]
reduce t in 1 .. N
f[i] = 0
f[t] = f[t - 1] + A[t]
B[i] = f[i]
