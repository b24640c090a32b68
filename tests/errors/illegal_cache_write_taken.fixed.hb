size N, M
input A: f32[N, M]
input O_acc: f32
output O: f32[N]
reduce r in M
O[x] = O_acc
O[x] += A[x, r]
schedule s for c {
    O.cache_write(sums)
}
