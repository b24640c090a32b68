# Broke: the tail of one split left less of a fused loop than a shifted factor, and wrote before the array.
# sizes: W=3 target: avx512 fixed: 0 seed: 0
size W
input B: f32[1, 1]
output f0: f32[W, 5]
PB = clamp_edge(B)
f0[x, y] = PB[x / 2, 1]
schedule s for avx512 {
    f0.vectorize(y, 2).fuse(x, y, fu1).split(fu1, fo2, fi3, 4, tail = shift)
}
