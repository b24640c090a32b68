size N
input x: f32[N]
output y: f32[N]
f[i] = x[i] * 2
y[i] = f[i]
