param R: i32 = 2
param S: u8 = 3
size N
input x: f32[N + 2 * R]
output y: f32[N]
reduce r in 2 * R + 1, s in -R .. max(R, 1), t in N / (R + 1), u in S
y[i] = 0
y[i] += x[i + r] + x[i + s + R] + x[t] + x[clamp(i64(u), 0, N - 1)]
