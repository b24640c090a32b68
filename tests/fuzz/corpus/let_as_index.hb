# Broke: a `let` whose name stands in an index of a Func with loops of its own was read where nothing binds it.
# sizes: N=13 | N=1 target: avx2 fixed: 0 seed: 3
size N
input I: i32[N]
output O: f32[N]
F[z] = f32(z) * 2
O[x] = let q = clamp(i64(I[x]), 0, 9) in F[q] + F[q + 1] + f32(q)
schedule s for avx2 {
    F.compute_root()
}
