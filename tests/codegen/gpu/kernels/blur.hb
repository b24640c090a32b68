size   H, W
input  I: f32[H, W]
output O: f32[H, W]
P = clamp_edge(I)
rows[y, x] = P[y, x - 1] + P[y, x] + P[y, x + 1]
O[y, x]    = rows[y - 1, x] + rows[y, x] + rows[y + 1, x]
schedule staged for cuda {
    O.tile(y, x, yo, xo, yi, xi, 8, 32).gpu_blocks(yo, xo).gpu_threads(yi, xi)
    rows.compute_at(O, xo)
}
schedule sliding for cuda {
    O.tile(y, x, yo, xo, yi, xi, 8, 32).gpu_blocks(yo, xo).gpu_threads(xi)
    rows.store_at(O, xo).compute_at(O, yi)
}
schedule root for cuda {
    O.tile(y, x, yo, xo, yi, xi, 8, 32).gpu_blocks(yo, xo).gpu_threads(yi, xi)
    rows.compute_root()
}
schedule double for cuda {
    O.tile(y, x, yo, xo, yi, xi, 8, 32).gpu_blocks(yo, xo).gpu_threads(yi, xi)
    I.in(rows).compute_at(O, xo)
    rows.compute_at(O, xo).gpu_threads(x)
}
