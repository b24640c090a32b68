size   H, W, T
input  I: f32[H, W + T - 1]
input  K: f32[T]
output O: f32[H, W]
reduce r in T
acc[y, x]  = 0
acc[y, x] += K[r] * I[y, x + r]
O[y, x]    = acc[y, x]
schedule staged for cuda {
    O.split(x, xo, xi, 128).gpu_blocks(y, xo).split(xi, xt, xv, 4).gpu_threads(xt).unroll(xv)
    acc.compute_at(O, xo).store_in(registers).split(x, xt, xv, 4).gpu_threads(xt).unroll(xv)
    acc.update.split(r, ro, ri, 16).split(x, xt, xv, 4).reorder(y, ro, xt, ri, xv).gpu_threads(xt).unroll(ri).unroll(xv)
    I.in(acc).compute_at(acc.update, ro)
    K.in(acc).compute_at(acc.update, ro)
}
schedule guarded for cuda {
    O.split(x, xo, xi, 64, tail = guard).gpu_blocks(y, xo).gpu_threads(xi)
    acc.compute_at(O, xi)
    acc.update.unroll(r, 4)
}
schedule shifted for cuda {
    O.split(x, xo, xi, 64, tail = shift).gpu_blocks(y, xo).gpu_threads(xi)
    acc.compute_at(O, xi)
}
schedule rowsthreads for cuda {
    O.tile(y, x, yo, xo, yi, xi, 2, 32).gpu_blocks(yo, xo).gpu_threads(yi, xi)
    acc.compute_at(O, xo).store_in(shared)
    acc.update.reorder(r, y, x)
}
