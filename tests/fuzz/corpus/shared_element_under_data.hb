# Broke: an element that all outer lanes share was read for lanes that are not live, its own condition too.
# sizes: W=4 target: avx512 fixed: 1 seed: 0
size W
input A: i8[W + 6]
output f3: i32[W]
reduce r1 in W
f2: i8[x, y] = A[x + y + 2]
f3[n] = i32(0)
f3[n] += i32(A[r1 + 2]) where (f2[n, r1 - 2] > 0)
schedule s for avx512 {
    f3.update.atomic().vectorize(r1, 2, tail = mask).vectorize(n, 32).reorder(n, r1, n_v, r1_v)
    f2.compute_at(f3.update, n)
    f2.vectorize(y, 16, tail = shift).reorder(x, y)
}
