# Broke: bounds: less is known of an index inside a loop than outside, where its memory was sized.
# sizes: W=23 | W=1 target: avx512 fixed: 0 seed: 0
size W
input A: i8[2 * W, W]
output f: i8[W, W]
f[x, y] = max(A[x + x, y], max(A[clamp(x, 0, W - 1), y], mirror(A)[x, y]))
schedule s for avx512 { A.in(f).compute_at(f, x).store_root() }
