# Matrix product of unsigned by signed bytes with 32-bit sums, as quantised networks use it.
#
#     C[i, j] = sum over k of i32(A[i, k]) * i32(B[k, j])
#
# `a` and `b` are the operands as i32, converted once for each panel.

size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
output C: i32[M, N]

reduce k in K
a[i, l]    = i32(A[i, l])
b[l, j]    = i32(B[l, j])
acc[i, j]  = 0
acc[i, j] += a[i, k] * b[k, j]
C[i, j]    = acc[i, j]

schedule portable for c {
    C.tile(i, j, io, jo, ii, ji, 4, 64).reorder(jo, io, ii, ji).parallel(jo)
    b.compute_at(C, jo)
    acc.compute_at(C, io)
    acc.update.reorder(k, i, j)
}

# Four products at a time in each lane. B is packed for it once for each panel of 64 columns.
schedule dot for avx512vnni {
    C.tile(i, j, io, jo, ii, ji, 6, 64, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 16).unroll(ji).unroll(ii).parallel(jo)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(ki).vectorize(j, 16).unroll(i).unroll(j)
}

# 2 x 2 tiles of sums, 64 products deep: each loaded tile of A and B serves two of them.
# 1024 columns of B, a megabyte at K = 1024, stay in the second cache while all rows of A pass by.
schedule tiles for amx {
    C.tile(i, j, io, jo, ib, jb, 32, 32, tail = shift).split(jo, jg, jo, 32).reorder(jg, io, jo)
    C.parallel(io)
    C.tile(ib, jb, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 64)
    acc.update.tile(i, j, it, jt, ii, ji, 16, 16).reorder(ko, it, jt, ii, ji, ki)
    acc.update.unroll(it).unroll(jt).atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}

# The same with 512 columns: a megabyte at K = 2048.
schedule deep for amx where K > 1024 {
    C.tile(i, j, io, jo, ib, jb, 32, 32, tail = shift).split(jo, jg, jo, 16).reorder(jg, io, jo)
    C.parallel(io)
    C.tile(ib, jb, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 64)
    acc.update.tile(i, j, it, jt, ii, ji, 16, 16).reorder(ko, it, jt, ii, ji, ki)
    acc.update.unroll(it).unroll(jt).atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}

# Four products at a time in each lane: 4 x 16 sums in 16 of NEON's 32 registers
# (with 24 gcc runs out: it loads the operands of all rows first).
schedule neon for arm_dot {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 4).unroll(ji).unroll(ii).parallel(jo)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 4).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(ki).vectorize(j, 4).unroll(i).unroll(j)
}

schedule fast for avx512 {
    C.tile(i, j, io, jo, ii, ji, 6, 64, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 16).unroll(ji).unroll(ii).parallel(jo)
    b.compute_at(C, jo).vectorize(j, 16).unroll(j)
    a.compute_at(C, io).vectorize(l, 16)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.reorder(k, i, j).vectorize(j, 16).unroll(i).unroll(j).unroll(k, 2)
}

schedule narrow for avx2 {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 8).unroll(ji).unroll(ii).parallel(jo)
    b.compute_at(C, jo).vectorize(j, 8).unroll(j)
    a.compute_at(C, io).vectorize(l, 8)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 8).unroll(i).unroll(j)
    acc.update.reorder(k, i, j).vectorize(j, 8).unroll(i).unroll(j).unroll(k, 2)
}

example { M = 1024; N = 1024; K = 1024; A = random(1); B = random(2) }
