size H, W
input I: f32[H, W]
input J: i32[H, W]
output h: i32[256]
output g: i32[256]
bound J in 0 .. 256
reduce y in H, x in W
h[v] = 0
h[clamp(i64(I[y, x] * 255), 0, 255)] += 1
g[v] = 0
g[J[y, x]] += 1
