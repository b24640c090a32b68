# Broke: a strided load of an array that the kernel fills was made of whole loads, which read what nobody, or another
# thread, had stored yet.
# sizes: W=16 target: avx2 fixed: 0 seed: 0
size W
input B: f64[W + 3, 1]
output f1: f64[W, 1]
PB = wrap(B)
reduce r1 in 1 .. W
reduce r3 in 3
reduce r5 in 1 .. 2
f0[x, y, z] = f64(0)
f0[x, r5, z] = (-f64(inf)) - f0[x, r5 - 1, z]
f1[x, y] = f64(0)
f1[r1, y] = let t2 = f1[r1 - 1, y] in max(t2, f0[y + r1, y / 2, y % 4])
f1[x, y] *= ((let t4 = PB[x + x, y / 3] in (t4 + t4)) + f64(r3)) where (B[x + 3, y] >= f0[x + y, y, 2 * r3])

schedule auto_avx2 for avx2 {
    f1.vectorize(x, 4).parallel(x)
    f1.update(1).reorder(y, r3, x).vectorize(x, 4).parallel(y)
    f0.compute_root().bound(z, 0, 5).vectorize(x, 4).parallel(x)
    f0.update.reorder(z, r5, x).vectorize(x, 4).parallel(z)
}
