size M, N, K
input A: u8[M, K]
input B: i8[N, K]
output C: i32[M, N]
reduce k in K
acc[i, j] = 0
acc[i, j] += i32(A[i, k]) * i32(B[j, k])
C[i, j] = acc[i, j]
schedule s for avx512vnni {
    C.tile(i, j, io, jo, ii, ji, 16, 16).vectorize(ji).unroll(ii)
    acc.compute_at(C, jo).store_in(registers).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 64).reorder(ko, i, j, ki).atomic().vectorize(ki).unroll(i).unroll(j)
}
