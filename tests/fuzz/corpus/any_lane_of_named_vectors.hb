# Broke: whether any lane goes on was asked of 16 lanes at once, which registers do not hold, by names of their halves.
# sizes: H=2 W=71 | H=1 W=5 target: avx2 fixed: 0 seed: 0
size H, W
input A: f32[H, W]
output O: i32[H, W]
reduce t in 9
(n[y, x], v[y, x]) = (0, A[y, x])
(n[y, x], v[y, x]) = (n[y, x] + 1, v[y, x] * 0.5 + A[y, x]) while t: v[y, x] * v[y, x] <= 2
O[y, x] = n[y, x]
schedule s for avx2 {
    O.split(x, xo, xi, 32, tail = shift).vectorize(xi, 16).unroll(xi)
    n.compute_at(O, xo).vectorize(x, 16).unroll(x)
    n.update.reorder(y, t, x).vectorize(x, 16).unroll(x)
}
