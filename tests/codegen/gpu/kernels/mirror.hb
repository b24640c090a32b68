# Every row of 32 plus its mirror image, in one warp.
size   M, N
input  A: f32[M, N]
output S: f32[M, N]
t[y, x] = A[y, x] * 2
S[y, x] = t[y, x] + t[y, 32 * (x / 32) + 31 - x % 32]

schedule lanes for cuda {
    S.tile(y, x, yo, xo, yi, xi, 4, 32, tail = exact).gpu_blocks(yo, xo)
    S.gpu_threads(yi).gpu_lanes(xi)
    t.compute_at(S, xo).gpu_threads(y).gpu_lanes(x)
}

schedule whole for cuda {
    S.tile(y, x, yo, xo, yi, xi, 4, 32, tail = exact).gpu_blocks(yo, xo)
    S.gpu_threads(yi).gpu_lanes(xi)
    t.compute_at(S, xo)
}

schedule wide for cuda {
    S.specialize(N >= 64).split(x, xo, xi, 64).gpu_blocks(y, xo).gpu_threads(xi)
}
