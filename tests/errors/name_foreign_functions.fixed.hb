size N
input x: f32[N]
output y: f32[N]
y[i] = x[i] + (x[i] - x[i]) * 0.5 + f32(x[i])
