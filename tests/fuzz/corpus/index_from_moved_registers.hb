# Broke: an index of lanes that are read one by one came from registers that a movement had filled, of which no lane has a name.
# sizes: W=1 Q=1 target: avx512 fixed: 0 seed: 0
size W
input A: u64[8, 8, 8]
input B: u64[8, 8]
output f3: u16[5]
output f0: u16[8]
input Q: i32
bound Q in 1 .. 4
PB = clamp_edge(B)
reduce r1 in 2 .. 5
reduce r2 in Q
reduce r3 in 2 .. 8
reduce r4 in 3 .. 8
f0[x] = ((u16(mirror(A)[x, x, clamp(i64(A[x, x, x]), 0, W - 1)]) + u16(mirror(A)[x, x, x])) / (u16(B[x / 2, 3]) * 3))
f0[x] = f0[x] + u16(B[x, x])
f1: u64[x, y, z] = (-mirror(A)[x, y - 1, z / 2])
f1[x, y, z] ^= (u64(max(select((z + 1 <= y), u16(PB[x + 3, y]), 3), (f0[x] + f0[x % 2]))) + u64(r2)) where ((x >= 0) and (z >= 4))
f1[r4, 7 - r3, z] = let t6 = f1[clamp(r4 + 3 - 2, 3, 7), 7 - r3 + 2, z] in t6 + ((let t5 = u64(f0[z]) in (B[z, r3] + t5)) - 2)
f2: u16[x] = (f0[f1[x, x, x] % 5] % 3)
f3[x] = u16(0)
f3[r1] = max(f3[r1 - 2], max(u16(PB[r1 + 1, r1 + 3]), (f2[2 * r1 - 1] + u16(B[select(r1 < r1, r1 % 7, 6), r1]))))

schedule auto_avx512 for avx512 {
    f3.vectorize(x, 8)
    f2.compute_root().vectorize(x, 5)
    f1.compute_root().vectorize(z, 8).parallel(x)
    f1.update.reorder(x, y, r2, z).vectorize(z, 8).parallel(x)
    f1.update(1).reorder(r3, r4, z).vectorize(z, 8)
    f0.vectorize(x, 8)
    f0.update.vectorize(x, 8)
}
