size N
input x: f32[N, N]
output y: f32[N]
output z: f32[N]
output v: f32[N]
reduce k in 0 .. i + 1, q in 0 .. k, s in i64(z[i]) .. N
y[i] = 0
y[i] += x[i, k]
z[i] = 0
z[i] += x[i, q]
v[i] = 0
v[i] += x[i, k] where k > i
