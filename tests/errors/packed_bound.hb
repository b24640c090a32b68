size N
input W: u4[N]
input t: f32[10]
output y: f32[N]
bound W in 0 .. 10
y[i] = t[W[i]]
