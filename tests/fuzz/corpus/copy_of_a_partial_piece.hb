# Broke: a copy of an input read beyond its end in the last, partial piece of a split.
# sizes: W=1 | W=19 target: avx512 fixed: 0 seed: 0
size W
input A: f32[W, W]
output f0: f32[W, W, W]
f0[x, y, z] = A[x, y]
schedule s for avx512 {
    f0.split(y, yo1, yi2, 2).tile(yo1, yi2, ao3, bo5, ai4, bi6, 2, 2).split(x, xo7, xi8, 2)
    A.in(f0).compute_at(f0, ai4)
}
