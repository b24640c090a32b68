# Broke: lowering: a loop over a part of the fused inner half was open where the piece became partial.
# sizes: W=1 | W=7 | W=0 target: c fixed: 0 seed: 0
size W
input A: i32[W, W]
output f: i32[W, W]
f[x, y] = A[x, y]
schedule s for c {
    f.split(x, xo, xi, 5, tail = shift).fuse(xi, y, h).split(h, ho, hi, 2).reorder(ho, xo, hi)
}
