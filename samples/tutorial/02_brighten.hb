# 2. Brighten a photo: arithmetic, parameters, and a first schedule.
#
# A `param` is a constant with a default; `--set gain=2` changes it when compiling. Nothing is
# converted silently: bytes become floats by `f32(...)` and floats bytes by `u8(...)`, here after
# `clamp`, so that white stays white.
#
# A schedule says *how* to compute, never *what*: it cannot change the result. This one treats a row
# as one run of bytes (`fuse` makes one loop of two), works on 32 of them at once (`vectorize`) and
# shares the rows among threads (`parallel`). Widths that 32 does not divide are taken care of.
#
#     hbc run 02_brighten.hb --set gain=1.8 --output O=bright.png

size   H, W
param  gain: f32 = 1.4
param  lift: f32 = 10
input  I: u8[H, W, 3]
output O: u8[H, W, 3]

value[y, x, c] = f32(I[y, x, c]) * gain + lift
O[y, x, c]     = u8(round(clamp(value[y, x, c], 0, 255)))

schedule portable for c {
    O.parallel(y)
}
schedule fast for avx512, avx2 {
    O.fuse(x, c, xc).vectorize(xc, 32).parallel(y)
}

example { I = file("../data/astronaut.png") }
