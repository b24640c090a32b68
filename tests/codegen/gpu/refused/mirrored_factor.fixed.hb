size   H, W, T
input  I: f16[H, W]
input  K: f16[T]
output O: f32[H, W]
p[y, x] = mirror(I)[y, x]
reduce r in T
acc[y, x]  = 0
acc[y, x] += f32(K[r]) * f32(p[y, x + r])
O[y, x]    = acc[y, x]
schedule wmma for cuda {
    O.split(x, xo, xi, 256).split(y, yo, yi, 4)
    O.reorder(yo, xo, yi, xi).gpu_blocks(yo, xo).gpu_threads(yi).vectorize(xi)
    p.compute_root().gpu_blocks(y)
    acc.compute_at(O, yi).store_in(wmma_accumulator).vectorize(x)
    acc.update.split(r, ro, ri, 8).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(x).vectorize(ri)
}
