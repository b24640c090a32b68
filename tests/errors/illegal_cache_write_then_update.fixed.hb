size N, M
input A: f32[N, M]
output O: f32[N]
reduce r in M
O[x] = 0
O[x] += A[x, r]
schedule s for c {
    O.cache_write(acc)
    O_acc.update.unroll(r, 4)
}
