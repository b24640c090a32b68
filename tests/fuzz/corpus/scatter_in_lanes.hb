# Broke: vectorizing: lanes of an atomic update stored to one element and lost all but one value.
# sizes: W=16 target: avx2 fixed: 0 seed: 0
# refused: lanes may add to the same element
size W
input A: f32[W]
input N: u8[W]
output f: f32[4]
bound N in 0 .. 4
reduce r in W
f[x] = 0.0
f[N[r]] += A[r]
schedule s for avx2 { f.update.atomic().vectorize(r, 8) }
