param R: i32 = 2
size N
input x: f32[N]
output y: f32[N]
reduce r in N * R * N
y[i] = 0
y[i] += x[i + r]
