# A layer of MobileNet: 3 x 3 pixels of each channel, then all channels of a pixel, then ReLU.
size   N, H, W, C, K
input  A: f32[N, H, W, C]
input  F: f32[3, 3, C]
input  P: f32[C, K]
input  bias: f32[K]
output O: f32[N, H, W, K]

edge = zero_edge(A)
reduce r in 3, s in 3, c in C
depthwise[n, y, x, d]  = 0.0
depthwise[n, y, x, d] += F[r, s, d] * edge[n, y + r - 1, x + s - 1, d]
pointwise[n, y, x, k]  = bias[k]
pointwise[n, y, x, k] += P[c, k] * depthwise[n, y, x, c]
O[n, y, x, k]          = max(pointwise[n, y, x, k], 0)

# Channels of 14 pixels, 16 at a time: what the sums read lies in 14 vectors with constant distances.
schedule tiles for avx512 {
    O.split(x, xo, xi, 14, tail = shift).split(k, ko, ki, 16, tail = shift)
    O.reorder(n, y, xo, ko, xi, ki).unroll(xi).vectorize(ki, 16).parallel(n)
    pointwise.compute_at(O, ko).store_in(registers).vectorize(k, 16).unroll(x)
    pointwise.update.split(c, co, ci, 16).reorder(n, y, co, ci, x, k)
    pointwise.update.vectorize(k, 16).unroll(x).unroll(ci, 2)
    depthwise.compute_at(pointwise.update, co).store_in(stack).vectorize(d, 16).unroll(x)
    depthwise.update.reorder(n, y, r, s, x, d).vectorize(d, 16).unroll(x).unroll(s)
}

example { N = 4; H = 112; W = 112; C = 32; K = 16; A = random(1, -1, 1); F = random(2, -1, 1); P = random(3, -1, 1); bias = random(4) }
