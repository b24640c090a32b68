# Broke: oracle: the bound of a product of doubles was lost in its own rounding.
# sizes: W=8 H=2 | W=8 H=13 | W=0 H=2 | W=8 H=0 target: avx2 fixed: 0 seed: 11
size W, H
input B: f64[W + 4, W + 1]
output f3: f64[W + 2, W, W]
reduce r1 in W
f3[x, y, z] = sqrt(f64(1.0))
f3[1, y, z] = B[3, W - 1 - z]
f3[r1 / 2, y, z] *= B[y / 2, z / 2] where ((z % 3 == 1) and (r1 + 3 <= H))
schedule s for avx2 {
    f3.update.split(z, zo1, zi2, 4, tail = exact).split(zo1, zo3, zi4, 16, tail = mask).pipeline(zi2, 4).split(zi4, zo5, zi6, 16, tail = guard)
    f3.update(1).split(r1, ro7, ri8, 4, tail = guard).vectorize(z, 8, tail = exact).split(ri8, ro9, ri10, 4, tail = exact)
}
