# Broke: sums that are stored under a condition were read, too, where they had not begun.
# sizes: M=1 N=1 K=1 | M=5 N=70 K=5 target: avx512vnni fixed: 0 seed: 0
size M, N, K
input A: u8[M, K]
input B: i8[K, N]
output C: i32[M, N]
reduce k in K
acc: i32[i, j] = 3
acc[i, j] += i32(B[k, j]) * i32(A[i, k]) where j < 20
C[i, j] = acc[i, j]
schedule s for avx512vnni {
    C.tile(i, j, io, jo, ii, ji, 4, 64, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 16).unroll(ji).unroll(ii)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki).atomic().vectorize(ki)
    acc.update.vectorize(j, 16).unroll(i).unroll(j)
}
