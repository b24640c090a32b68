# Broke: inlining: a Func with a `let`, in an index of itself, bound one name inside its own scope.
# sizes: W=3 | W=1 target: avx2 fixed: 0 seed: 0
size W
input A: i64[W + 2]
output f: i64[W]
g[x] = let t = A[x] * 3 in t + A[x] * (t + 1)
f[x] = g[clamp(g[x], 0, W - 1)]
