size N
input X: i32[N]
output B: i32[N]
reduce r in N
f[i] = 5
f[i] += X[r]
B[i] = f[i]
