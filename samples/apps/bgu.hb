# What was done to a small picture, done to a large one (Chen, Adams, Wadhwa, Hasinoff 2016): in each cell of a grid of places
# and brightnesses the affine map of colours that fits best, by least squares; each large pixel has the map between its cells.
import "std/math.hb"

size   H, W
param  U: i32 = 8
param  S: i32 = 16
param  bins: i32 = 8
param  lambda: f32 = 0.000001
input  small: f32[3, (H + U - 1) / U, (W + U - 1) / U]
input  done: f32[3, (H + U - 1) / U, (W + U - 1) / U]
input  large: f32[3, H, W]
output O: f32[3, H, W]

def binomial(a, b, c, d, e) = a + 4 * b + 6 * c + 4 * d + e
def grey(r, g, b)           = clamp(0.25 * r + 0.5 * g + 0.25 * b, 0, 1) * f32(bins)

# Sums over pixels of products: columns 0 to 3 of the colours and 1 with themselves, 4 to 6 with what was made of them.
a = clamp_edge(small)
f = clamp_edge(done)
from[i, y, x] = select(i < 3, a[min(i, 2), y, x], 1)
with[j, y, x] = select(j < 4, from[min(j, 3), y, x], f[clamp(j - 4, 0, 2), y, x])
bin[y, x]     = i32(grey(a[0, y, x], a[1, y, x], a[2, y, x]) + 0.5)
reduce v in S, u in S
sums[i, j, z, y, x] = 0.0
sums[i, j, clamp(bin[S * y + v - S / 2, S * x + u - S / 2], 0, bins), y, x] += from[i, S * y + v - S / 2, S * x + u - S / 2] *
    with[j, S * y + v - S / 2, S * x + u - S / 2]
deep[i, j, z, y, x] = binomial(sums[i, j, z - 2, y, x], sums[i, j, z - 1, y, x], sums[i, j, z, y, x], sums[i, j, z + 1, y, x], sums[i, j, z + 2, y, x])
wide[i, j, z, y, x] = binomial(deep[i, j, z, y, x - 2], deep[i, j, z, y, x - 1], deep[i, j, z, y, x], deep[i, j, z, y, x + 1], deep[i, j, z, y, x + 2])
high[i, j, z, y, x] = binomial(wide[i, j, z, y - 2, x], wide[i, j, z, y - 1, x], wide[i, j, z, y, x], wide[i, j, z, y + 1, x], wide[i, j, z, y + 2, x])

# Where pixels say little, the colours times one number each; then Gauss and Jordan's elimination.
pull[z, y, x]       = lambda * (high[3, 3, z, y, x] + 1)
gain[i, z, y, x]    = (high[3, 4 + min(i, 2), z, y, x] + pull[z, y, x]) / (high[3, min(i, 2), z, y, x] + pull[z, y, x])
e[0][i, j, z, y, x] = high[i, j, z, y, x] +
    select(i == j, pull[z, y, x], select(i < 3 and j == 4 + i, pull[z, y, x] * gain[i, z, y, x], 0))
for k in 1 .. 5 {
    e[k][i, j, z, y, x] = e[k - 1][i, j, z, y, x] - select(i == k - 1, 0,
        e[k - 1][i, k - 1, z, y, x] / e[k - 1][k - 1, k - 1, z, y, x] * e[k - 1][k - 1, j, z, y, x])
}
map[c, i, z, y, x] = e[4][i, 4 + c, z, y, x] / e[4][i, i, z, y, x]

row[c, i, z, y, x]  = lerp(map[c, i, z, y / (S * U), x], map[c, i, z, y / (S * U) + 1, x], f32(y % (S * U)) / f32(S * U))
cell[c, i, z, y, x] = lerp(row[c, i, z, y, x / (S * U)], row[c, i, z, y, x / (S * U) + 1], f32(x % (S * U)) / f32(S * U))
level[y, x]         = grey(large[0, y, x], large[1, y, x], large[2, y, x])
own[c, i, y, x]     = let z = clamp(i32(level[y, x]), 0, bins - 1) in
    lerp(cell[c, i, z, y, x], cell[c, i, z + 1, y, x], level[y, x] - f32(z))
O[c, y, x] = own[c, 0, y, x] * large[0, y, x] + own[c, 1, y, x] * large[1, y, x] + own[c, 2, y, x] * large[2, y, x] + own[c, 3, y, x]

schedule rows for c, avx2, avx512, arm_dot {
    O.split(y, yo, yi, 64).reorder(yo, c, yi, x).vectorize(x, 16).parallel(yo)
    level.compute_at(O, yo).vectorize(x, 16)
    row.compute_at(O, yi).vectorize(x, 16)
    map.compute_at(O, c).vectorize(x, 16)
    e.compute_root().vectorize(x, 16)
    high.compute_root().vectorize(x, 16)
    wide.compute_root().vectorize(x, 16)
    deep.compute_root().vectorize(x, 16)
    sums.compute_root()
    sums.update.reorder(y, x, v, u, i, j)
    bin.compute_root().vectorize(x, 16)
}

example { W = 1536; H = 1024; small = random(1); done = random(2); large = random(3) }
