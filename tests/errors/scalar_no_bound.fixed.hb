size N
input n: i32
input m: i16
bound m in 0 .. 1_000
bound n in 0 .. 1_000
input x: f32
output y: f32[n]
output z: f32[N]
reduce k in m, r in 2 * n + 1
y[i] = 0
y[i] += f32(k + r)
z[i] = f32(n) + x
