# Broke: a vector that is divided within an index was given a name, and nobody could take its lanes.
# sizes: H=1 target: avx2 fixed: 0 seed: 0
size H
input A: f32[3 * H + 6]
input N: i64[H]
bound N in 0 .. 3
output f3: bool[H, H]
f1[n, c, w] = u16(A[n + 1])
f1[0, c, w] = u16(A[c])
f3[n, c] = (select((f1[f1[n, c + 2, c - 2] % 5, c + 2, 1] != f1[n - 1, c, c / 2]), f1[3 * n, c, c], u16(0)) != u16(N[n]))

schedule auto_avx2 for avx2 {
    f3.split(c, co, ci, 16, tail = shift).reorder(n, co, ci).vectorize(ci, 16).parallel(n)
    f1.compute_root().vectorize(w, 8).parallel(n)
    f1.update.vectorize(w, 8).parallel(c)
}
