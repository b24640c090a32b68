# Broke: lowering: `tail = shift` of the inner half moved to negative indices in the last piece.
# sizes: K=4 | K=8 | K=19 | K=0 target: avx512 fixed: 0 seed: 0
size K
input A: f32[K]
output f: f32[K]
f[y] = A[y]
schedule s for avx512 { f.split(y, yo, yi, 8).split(yi, a, b, 7, tail = shift) }
