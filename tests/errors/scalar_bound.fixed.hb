size N
input n: i32
bound n in 1 .. 9
input m: u8
bound m in 7 .. 8
input k: i32
bound k in 0 .. N
input g: f32
output y: f32[n, m, k]
y[a, b, c] = clamp(g, 0, 1)
