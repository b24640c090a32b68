# Broke: the printed C: `a * (b / c)` lost its parentheses.
# sizes: W=9 target: c fixed: 0 seed: 0
size W
input A: i32[W]
output f: i32[W]
f[x] = A[x] * ((A[x] + 5) / 3)
