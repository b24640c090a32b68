size   W, H
input  I: f32[W]
output O: f32[W, H]
both[x] = I[x] * 2.0
O[x, y] = both[x] + 1.0
schedule s for avx512 {
    O.split(y, yo, yi, 8).reorder(yo, yi, x).specialize(W >= 8).vectorize(yi)
    both.compute_at(O, yo)
}
