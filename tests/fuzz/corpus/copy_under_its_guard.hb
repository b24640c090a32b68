# Broke: a copy of an input at a loop where only a guard tells which points there are read beyond its end.
# sizes: W=1 | W=7 | W=4 | W=0 target: c fixed: 0 seed: 0
size W
input A: i32[W]
output f: i32[W]
f[x] = A[x]
schedule s for c {
    f.split(x, xo, xi, 4).split(xi, a, b, 8).reorder(b, a, xo)
    A.in(f).compute_at(f, xo)
}
