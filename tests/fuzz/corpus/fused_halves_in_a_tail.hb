# Broke: lowering, KeyError: halves of a peeled split, fused, have one value in the tail.
# sizes: W=33 | W=0 | W=7 target: avx2 fixed: 0 seed: 0
size W
input A: u32[W]
output f: u32[1]
reduce r in W
f[x] = 0
f[x] += A[r]
schedule s for avx2 {
    f.update.split(r, a, b, 8).split(a, c, d, 16).split(c, e, g, 5).fuse(g, d, h)
}
