# Broke: a piece of a vector with no live lane was stored, under an empty mask, past the end of the
# array (undefined behaviour).
# sizes: K=7 | K=5 target: avx512 fixed: 0 seed: 7
size K
input A: f32[K, 5]
output f: f32[K, K]
reduce r in 4
f[x, y] = f32(0)
f[x, y] *= A[x, y % 5] + f32(r)
schedule s for avx512 {
    f.update.rfactor(r, u)
    f_u.compute_at(f.update, r)
    f_u.update.tile(y, u, yo, uo, yi, ui, 8, 16).vectorize(ui)
}
