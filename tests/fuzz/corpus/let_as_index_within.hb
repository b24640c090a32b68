# Broke: the same with one `let` in another, and a `let` in the index itself.
# sizes: N=17 | N=2 target: avx512 fixed: 0 seed: 4
size N
input I: u8[N]
output O: f32[N]
F[z, y] = f32(z) * 2 + f32(y)
O[x] = let q = i64(I[x]) / 9 in let p = q % 5 in F[p, (let a = p + 1 in a * 2)] - F[q, p]
schedule s for avx512 {
    F.compute_at(O, x).vectorize(z, 8)
}
