# Broke: the oracle: fused, one of two products beyond the range is not, and their sum is no NaN.
# sizes: H=3 K=5 | H=19 K=3 | H=33 K=37 target: avx512bf16 fixed: 0 seed: 3
size H, K
type E = f32
input A: bf16[K + 5, H + K + 1, H + K + 1]
input N: i8[K]
bound N in 0 .. 5
output f0: E[K]
reduce r1 in H
f0: E[x] = E(A[N[x], x, x])
f0[x] += E(zero_edge(A)[r1 / 2, x, 3]) * E(A[x, r1 / 2, r1])
schedule s for avx512bf16 {
    f0.unroll(x, 4, tail = guard)
    f0.update.atomic().vectorize(r1, 4, tail = mask).vectorize(x, 32).reorder(x, r1, x_v, r1_v)
}
