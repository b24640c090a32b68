# Broke: data of i64 made of loop variables alone was taken for an index, which never overflows: signed C.
# sizes: W=19 H=7 | W=1 H=40 target: avx2 fixed: 0 seed: 1
size W, H
output O: i64[H, W]
O[y, x] = (i64(y) * -9223372036854775807) * i64(-3) + i64(x) * 4611686018427387904 * 3
schedule s for avx2 {
    O.vectorize(x, 8)
}
