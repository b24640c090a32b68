size N
input x: f32[N]
output y: f32[N]
y[i] = let s = x[i] + 1 in s / 2
