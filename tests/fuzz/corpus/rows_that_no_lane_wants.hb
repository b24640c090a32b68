# Broke: the place of a row of which no lane is live was formed, beyond the array.
# sizes: W=3 target: avx512bf16 fixed: 1 seed: 1
size W
input A: bf16[2 * W - 1]
input B: bf16[4 * W + 3, W]
output f3: f32[W]
table T: bf16[1] = [1.25]
reduce r1 in 1 .. W + 1
reduce r2 in 1
reduce r3 in W
reduce r5 in W
f0: f32[x, y] = f32(0)
f0[x, y] += f32(B[x + 1, r5]) * f32(A[2 * r5])
f1[x, y, z] = 0
f1[x, y, z] += ((let t4 = tanh(f0[y, y + 3]) in (max(t4, f32(y)) + t4)) + f32(r3))
f2[x, y, z] = abs(f1[x % 4, 2 * y - 3, clamp(z + -2, 0, W - 1)])
f2[x, y, z] += f32(B[3 * r2 + 2, x]) * f32(T[r2])
f3: f32[x] = (f0[x / 2, x % 5] - f1[x, 1, x])
f3[x] *= f2[x, r1 + x, r1]

schedule auto_avx512bf16 for avx512bf16 {
    f3.vectorize(x, 16)
    f3.update.split(x, xo, xi, 16).reorder(xo, r1, xi).vectorize(xi, 16).unroll(r1, 2)
    f3.update.parallel(xo)
    f2.compute_at(f3.update, xo).vectorize(z, 16)
    f2.update.split(z, zo, zi, 16).reorder(x, y, zo, r2, zi).vectorize(zi, 16).unroll(r2, 2)
    f1.compute_root().vectorize(y, 16).parallel(x)
    f1.update.split(z, zo, zi, 3).split(y, yo, yi, 16).reorder(x, zo, yo, r3, zi, yi)
    f1.update.vectorize(yi, 16).unroll(zi).unroll(r3, 2).parallel(x)
    f0.compute_root().vectorize(y, 16).parallel(x)
    f0.update.split(y, yo, yi, 16).reorder(x, yo, r5, yi).vectorize(yi, 16).unroll(r5, 2)
    f0.update.parallel(x)
}
