size N
input x: f32[N]
output y: i32[N]
bound y in 0 .. N
reduce k in y[i] .. N
y[i] = 0
y[i] += i32(x[k])
