# 8. Tensor instructions: one that multiplies and sums by itself.
#
# AVX-512 VNNI has an instruction that multiplies four unsigned by four signed bytes in each of 16 lanes and adds
# all four products to a 32-bit sum. Nothing in the algorithm names it. The schedule makes loops of its shape, 4
# products in each lane of a vector, and hbc searches for instructions that compute the same:
#
#     hbc explain 08_tensor_instruction.hb --target avx512vnni
#     hbc verify 08_tensor_instruction.hb
#
# The first says what was chosen, how often, and its cost; where nothing fits, what kept it away and the edit that
# would help. Whatever the schedule says,
#
#     hbc inspect 08_tensor_instruction.hb --target avx512vnni
#
# lists every mapping of the loops to instructions of the target, fastest first. docs/selection.md has the rest.

size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
output C: i32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
C[i, j]    = acc[i, j]

# Sums of 4 rows and 32 columns stay in registers: 8 accumulators.
schedule dot for avx512vnni {
    C.tile(i, j, io, jo, ii, ji, 4, 32, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 16).unroll(ji).unroll(ii).parallel(jo)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(ki).vectorize(j, 16).unroll(i).unroll(j)
}

example { M = 256; N = 256; K = 256; A = random(1); B = random(2) }
