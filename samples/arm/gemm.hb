# Matrix product on the dot products of ARM: bytes (sdot, udot, usdot) or bf16 (bfmmla), any sizes.
#
#     C[i, j] = sum over k of S(A[i, k]) * S(B[k, j])
#
# --set A_type=u8: unsigned by signed. --set A_type=u8 --set B_type=u8 --set S=u32: unsigned.
# --set A_type=bf16 --set B_type=bf16 --set S=f32.
#
# `acc` is a block of 4 x 16 in sixteen registers; hbc packs B, four rows of k side by side. With eight
# (--schedule blocks) half as many instructions do it, smmla, ummla or usmmla: the registers then hold
# blocks of 2 x 2, which hbc sorts into rows where they are stored. They need a processor with i8mm.

kernel gemm_dot
type   A_type = i8
type   B_type = i8
type   S = i32
size   M, N, K
input  A: A_type[M, K]
input  B: B_type[K, N]
output C: S[M, N]

reduce k in K
acc: S[i, j] = 0
acc[i, j]   += S(A[i, k]) * S(B[k, j])
C[i, j]      = acc[i, j]

schedule dots for arm_dot {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 4).unroll(ji).unroll(ii)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 4).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(j, 4).vectorize(ki).unroll(i).unroll(j)
}

schedule blocks for arm_dot {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 4).unroll(ji).unroll(ii)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 4).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 8).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(j, 4).vectorize(ki).unroll(i).unroll(j)
}

example { M = 64; N = 96; K = 128; A = random(1); B = random(2) }
