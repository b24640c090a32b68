size N
input x: f32[N]
output y: f32[N]
y[i] = atan2(x[i], x[i]) + lerp(x[i], x[i], 0.5) + cast(x[i])
