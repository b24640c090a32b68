# Broke: a load of four rows into a tile register looked like the start of a pack that interleaves rows.
# sizes: M=32 N=32 K=32 target: amx fixed: 0 seed: 0
size M, N, K
input I: u8[M, 1 * N + K]
input K_: i8[K]
output O: i32[M, N]
reduce r in K
acc: i32[y, x] = 0
acc[y, x] += i32(K_[r]) * i32(I[y, 1 * x + r])
O[y, x] = acc[y, x]
schedule s for amx {
    O.split(x, xo, xi, 16).vectorize(xi)
    acc.compute_at(O, xo).store_in(amx_tile).vectorize(x)
    acc.update.split(r, ro, ri, 4).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(x).vectorize(ri)
}
