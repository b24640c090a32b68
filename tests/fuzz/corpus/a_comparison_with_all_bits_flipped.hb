# Broke: `~` before a comparison as an integer, of which gcc warns.
# sizes: W=1 | W=5 target: avx2 fixed: 0 seed: 0
size W
input B: i64[8]
output f1: i64[7, 7, W]
reduce r1 in W
reduce r3 in W
reduce r5 in W
f0[i, j] = B[i + 1]
f0[i, j] |= i64((let q4 = r3 % 2 in q4 > 1))
f0[i, j] += (~i64((r5 > 0)))
f1[x, y, z] = (B[(let q2 = i64(f0[x - 1, y + 3] * 3) in clamp(q2, 0, 2))] | min(min(B[x], B[6 - x]), (i64(10) / i64(3))))
f1[x, y, z] += (f0[x, y / 3] + i64(r1))

schedule auto_avx2 for avx2 {
    f1.vectorize(z, 4).parallel(x)
    f1.update.split(z, zo, zi, 52).reorder(x, y, zo, r1, zi).vectorize(zi, 4).unroll(zi)
    f1.update.unroll(r1, 2).parallel(x)
    f0.compute_root().vectorize(j, 4).parallel(i)
    f0.update.split(j, jo, ji, 12).reorder(i, jo, r3, ji).vectorize(ji, 4).unroll(ji)
    f0.update.unroll(r3, 2).parallel(i)
    f0.update(1).split(j, jo, ji, 12).reorder(i, jo, r5, ji).vectorize(ji, 4).unroll(ji)
    f0.update(1).unroll(r5, 2).parallel(i)
}
