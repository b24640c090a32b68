size N
output m: f32[N]
output k: i32[N]
(m[x], k[x]) = (0, 0)
