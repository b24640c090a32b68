# Broke: check: a Func that only the interval of a reduction reads was left out as if nothing needed it.
# sizes: N=11 target: avx512 fixed: 0 seed: 0
size N
input A: u8[N]
input B: i32[8]
output O: i32[N]
output P: i32[N]
long[x] = A[x] % 7
a[x] = A[x] / 2
a[x] ^= A[N - 1 - x]
reduce q in 0 .. long[x], r in clamp(i64(a[x]), 0, q) .. 8
O[x] = 0
O[x] += B[r]
P[x] = sum(k in 0 .. min(i64(a[x]), 8): B[k])
