size N
input n: i32
bound n in 1 .. n + 1
input m: u8
bound m in 7 .. 7
input k: i32
bound k in 0 .. N
bound k in 1 .. N
input g: f32
bound g in 0 .. 1
output y: f32[n, m, k]
y[a, b, c] = g
