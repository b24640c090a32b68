# Convolution of an image with T x T taps that need not be separable.
#
#     O[y, x] = sum over s, r < T of K[s, r] * I[y + s, x + r]
#
# 256 outputs of a row are a tile of 16 x 16. Each row of taps is a banded matrix, made once.
# Bytes: --set TI=u8 --set TK=i8 --set TO=i32.

type   TI = bf16
type   TK = bf16
type   TO = f32
size   H, W, T
input  I: TI[H + T - 1, W + T - 1]
input  K: TK[T, T]
output O: TO[H, W]

reduce s in T, r in T
acc[y, x]  = 0
acc[y, x] += TO(K[s, r]) * TO(I[y + s, x + r])
O[y, x]    = acc[y, x]

# Narrow images have tiles of one row.
schedule tiles for amx {
    O.specialize(W >= 256).split(x, xo, xi, 256, tail = shift).vectorize(xi).parallel(y)
    O.split(x, xo, xi, 16, tail = shift).vectorize(xi).parallel(y)
    acc.compute_at(O, xo).store_in(amx_tile).vectorize(x)
    acc.update.specialize(T % 16 == 0).split(r, ro, ri, 16).reorder(s, ro, y, x, ri)
        .atomic().vectorize(x).vectorize(ri)
    acc.update.split(r, ro, ri, 16).reorder(s, ro, y, x, ri).atomic().vectorize(x).vectorize(ri)
}

example { H = 1024; W = 1024; T = 16; I = random(1); K = random(2, -1, 1) }
