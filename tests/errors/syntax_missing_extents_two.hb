size N
input gain: f32
input bias: f32[]
output y: f32[N]
y[i] = gain * 2 + bias[]
