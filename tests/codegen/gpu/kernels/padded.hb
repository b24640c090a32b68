# Windows of rows in shared memory, rows padded: who fills them divides the element's number by the row's length.
size   H, W
input  I: f32[H, W + 6]
output O: f32[H, W]

O[y, x] = I[y, x] + I[y, x + 6]

# In ten pieces: 4 rows of 38 for 16 threads.
schedule rows for cuda {
    O.tile(y, x, yo, xo, yi, xi, 4, 32).split(xi, xs, xt, 4).reorder(yo, xo, xs, yi, xt)
    O.gpu_blocks(yo, xo).gpu_threads(yi, xt)
    I.in(O).compute_at(O, xo).store_in(shared).pad_storage(x, 40)
}

schedule guarded for cuda {
    O.tile(y, x, yo, xo, yi, xi, 4, 32, tail = guard).split(xi, xs, xt, 4)
    O.reorder(yo, xo, xs, yi, xt).gpu_blocks(yo, xo).gpu_threads(yi, xt)
    I.in(O).compute_at(O, xo).store_in(shared).pad_storage(x, 40)
}
