size N
param gain: f32 = 1.5
input bias: f32[1]
output y: f32[N]
y[i] = gain * 2 + bias[0]
