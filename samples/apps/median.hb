# The median of 3 x 3 pixels, by the network of Paeth (Graphics Gems): columns sorted, then the middle of three.
size   H, W
input  A: u8[H, W]
output O: u8[H, W]

def middle(a, b, c) = max(min(a, b), min(max(a, b), c))

P = clamp_edge(A)
low[y, x]  = min(P[y - 1, x], min(P[y, x], P[y + 1, x]))
mid[y, x]  = middle(P[y - 1, x], P[y, x], P[y + 1, x])
high[y, x] = max(P[y - 1, x], max(P[y, x], P[y + 1, x]))
O[y, x]    = middle(max(low[y, x - 1], max(low[y, x], low[y, x + 1])), middle(mid[y, x - 1], mid[y, x], mid[y, x + 1]),
    min(high[y, x - 1], min(high[y, x], high[y, x + 1])))

schedule rows for c, avx2, avx512, arm_dot {
    O.vectorize(x, 32).parallel(y)
    low.compute_at(O, y).vectorize(x, 32)
    mid.compute_at(O, y).vectorize(x, 32).compute_with(low, x)
    high.compute_at(O, y).vectorize(x, 32).compute_with(low, x)
}

example { W = 1536; H = 1024; A = random(1) }
