# Broke: vectorizing: a term that is the same in all lanes of a reduction was taken once, not for each.
# sizes: H=7 target: avx2 fixed: 0 seed: 0
size H
input A: f32[8, H]
output f: f32[8]
reduce r in 3, q in H
f[i] = 1.0
f[i] *= A[i, q] * f32(1 + r / 3)
schedule s for avx2 { f.update.reorder(r, i, q).atomic().vectorize(r) }
