# Broke: a number of f16 that a `select` chose was cast before it was chosen, in all lanes: `(short)x != y ? ..`.
# sizes: K=20 target: avx2 fixed: 0 seed: 0
size K
input A: f16[K + 3]
output f0: f16[2, K + 1, 8]
f0[i, j, k] = select((A[i] != A[i]), f16(k), -0.0)
schedule s for avx2 {
    f0.vectorize(j, 16, tail = shift)
}
