# Broke: lowering, KeyError: a fused loop was split and fused again.
# sizes: W=7 H=5 target: avx512 fixed: 0 seed: 0
size W, H
input A: f32[H, W]
output f: f32[H, W]
f[y, x] = A[y, x] + 1.0
schedule s for avx512 {
    f.fuse(y, x, a).split(a, ao, ai, 8).split(ai, b, c, 2).fuse(ao, b, d).split(d, do, di, 3)
}
