# Broke: a window as long as the range of u32 was folded to 2^33 elements, of an array of a few.
# sizes: W=1 target: avx512 fixed: 0 seed: 0
size W
input B: i64[3]
output f3: f32[W, 3, W]
param P: f32 = 0.0
reduce r1 in 2 .. W
reduce r3 in W
reduce r6 in 1 .. W + 7
(f0[x, y, z], g0: i64[x, y, z]) = (i32(0), i64(x))
(f0[r6, y, z], g0[r6, y, z]) = (max(f0[r6 - 1, y, z], (let q7 = y in i32(3))), select(f0[r6, y, z] > i32(1), g0[r6, y, z], i64(2)))
f1: i64[x, y, z] = g0[W + 5 - y, y, z]
f2[x, y, z] = (let q4 = clamp(i64(g0[x, y, z]), 0, 6) in (let q5 = z in (i64(6) >> i64(10))))
f2[x, y, z] *= select((min(f1[x + r3, y + 3, z], i64(z)) <= (f1[clamp(i64(max(f1[x, y - 1, z], 1)), 0, 6), clamp(i64(u32(g0[x, y, z] / 3)), 0, W - 1), r3 + r3 - 1] + i64(10))), (B[1] * i64(f32(f0[W - 1 - x, 2 - y, 2 * y + 2]))), 10)
f3[x, y, z] = min((-f32(g0[y - 1, clamp(x + 2, 0, W - 1), z + 2])), (let t2 = f32(f2[x, y, min(z, 7)]) in (t2 + t2)))
f3[r1, y, z] = max(f3[r1 - 2, y, z], f32(B[y]))
schedule s for avx512 {
    f3.tile(x, y, ao1, bo3, ai2, bi4, 3, 16, tail = shift).pipeline(z, 4)
    f2.compute_at(f3, bi4)
    f1.compute_at(f2.update, r3).store_at(f3, bo3)
    f1.split(y, yo5, yi6, 4).reorder(z, yi6).vectorize(x, 2)
    g0.compute_at(f3, bi4).store_at(f3, ai2)
}
