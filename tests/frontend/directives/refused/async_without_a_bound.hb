size   W
input  A: f32[W]
output O: f32[W, W, W]

f[x, y, z] = A[clamp(x, 0, W - 1)] * 2.0
O[i, j, k] = f[i + j, j + 3, min(k, 3)] + f[0, 0, 0]

schedule s for c, avx2, avx512 {
    O.flatten(j, k, p)
    f.compute_at(O, p).async()
}
