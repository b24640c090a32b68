# Edges by Canny (1986): where the gradient is greatest across its own direction, if it is above `high`, or above `low`
# and joined to such a place by at most T others.
import "std/image.hb"

size   H, W
param  T: i32 = 8
input  A: f32[H, W]
input  low: f32
input  high: f32
output O: u8[H, W]

def greatest(a, b, c) = c > a and c >= b
def around(f)[y, x]   = max(max(max(f[y - 1, x - 1], f[y - 1, x]), max(f[y - 1, x + 1], f[y, x - 1])),
    max(max(f[y, x + 1], f[y + 1, x - 1]), max(f[y + 1, x], f[y + 1, x + 1])))

edge = clamp_edge(A)
P[y, x] = edge[y, x]
soft = blur5_y(blur5_x(P))
gx = sobel_x(soft)
gy = sobel_y(soft)
g2[y, x] = gx[y, x] * gx[y, x] + gy[y, x] * gy[y, x]

# The direction is one of four, a quarter of a turn apart; tan 22.5 degrees = 0.41421356.
thin[y, x] = let h = abs(gx[y, x]) in let v = abs(gy[y, x]) in let c = g2[y, x] in
    select(v <= 0.41421356 * h, greatest(g2[y, x - 1], g2[y, x + 1], c),
    select(h <= 0.41421356 * v, greatest(g2[y - 1, x], g2[y + 1, x], c),
    select(gx[y, x] * gy[y, x] > 0, greatest(g2[y - 1, x - 1], g2[y + 1, x + 1], c),
    greatest(g2[y - 1, x + 1], g2[y + 1, x - 1], c))))
rank[y, x] = u8(select(not thin[y, x] or g2[y, x] <= low * low, 0, select(g2[y, x] <= high * high, 1, 2)))

kept[y, x]  = zero_outside(rank, H, W)[y, x]
on[0][y, x] = u8(select(kept[y, x] == 2, 255, 0))
for t in 1 .. T + 1 { on[t][y, x] = select(kept[y, x] == 1, max(on[t - 1][y, x], around(on[t - 1])[y, x]), on[t - 1][y, x]) }
O[y, x] = on[T][y, x]

schedule strips for c, avx2, avx512, arm_dot {
    O.split(y, ys, yt, 32, tail = shift).vectorize(x, 64).parallel(ys)
    on[0 .. T].compute_at(O, ys).vectorize(x, 64)
    kept.compute_root().split(y, ys, yt, 32, tail = shift).vectorize(x, 16).parallel(ys)
    g2.compute_at(kept, ys).vectorize(x, 16)
    gx.compute_at(kept, ys).vectorize(x, 16)
    gy.compute_at(kept, ys).vectorize(x, 16)
    soft.compute_at(kept, ys).vectorize(x, 16)
    P.compute_at(soft, y).vectorize(x, 16)
}

example { W = 640; H = 480; A = random(1); low = 0.5; high = 1 }
