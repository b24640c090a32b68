size   W, H
input  I: f32[H, W]
reduce r in 1 .. H
output O: f32[H, W]
P = clamp_edge(I)
u[y, x] = 0.0
u[r, x] = u[r - 1, x] + 1.0
rows[y, x] = P[y, x - 1] + P[y, x + 1]
O[y, x] = u[H - 1, x] + rows[y - 1, x] + rows[y + 1, x]
schedule s for avx512 {
    u.compute_root().fold_storage(y, 2)
}
