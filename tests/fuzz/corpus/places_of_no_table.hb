# Broke: places of a table that is looked up otherwise in the end were printed all the same: an array that nothing reads, of which gcc warns.
# sizes: W=4 target: avx512vnni fixed: 1 seed: 5
size W
input A: u8[2 * W + 4]
output f1: i32[7, W]
reduce r1 in W
reduce r2 in W
reduce r3 in 4
f0[x, y, z] = 0
f0[x, y, z] += i32(A[r3]) * i32(A[r3 / 3])
f1[x, y] = i32(A[x % 4])
f1[x, y] += i32(A[r1 + r1]) * i32(A[r1])
f1[x, y] += i32(A[r2]) * i32(A[r2]) where (not (i8(A[x % 4]) != i8(f0[clamp(i64(f0[x, y, r2] << 1), 0, W - 1), 2, r2])))
schedule s for avx512vnni {
    f1.split(x, xo1, xi2, 16, tail = guard).vectorize(y, 3, tail = mask)
    f1.update.atomic().vectorize(r1, 8, tail = guard).vectorize(y, 4, tail = mask).reorder(x, y, r1, y_v, r1_v)
    f1.update(1).atomic().vectorize(r2, 8).vectorize(y, 4).reorder(x, y, r2, y_v, r2_v)
    f0.compute_at(f1.update(1), x).reorder_storage(y, z, x)
    f0.reorder(y, z, x)
    f0.update.atomic().vectorize(r3, 4, tail = guard).vectorize(z, 4).reorder(x, y, z, r3, z_v, r3_v)
}
