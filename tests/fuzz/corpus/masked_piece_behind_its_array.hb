# Broke: the second register of a row had no live lane, and its place was a subscript behind the array.
# sizes: W=2 target: avx512vnni fixed: 1 seed: 7
size W
input A: u8[W + 33, 40]
output f2: i32[W]
reduce r4 in 6
f0: i32[y, z] = i32(A[y, z])
f0[y, z] += i32(A[r4, y + 1])
f2: i32[x] = f0[x, x] + f0[3 - x, 4]
schedule s for avx512vnni {
    f0.compute_at(f2, x)
    f0.update.atomic().vectorize(z, 32, tail = mask).reorder(y, z, r4, z_v)
}
