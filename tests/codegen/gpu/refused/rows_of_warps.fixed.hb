size   N, L
input  X: f32[N, L]
output Y: f32[N, L]
reduce k in L
top[i]    = -inf
top[i] max= X[i, k]
Y[i, j]   = X[i, j] - top[i]
schedule s for cuda {
    Y.split(i, ib, iw, 8).split(j, jo, jl, 32).reorder(ib, iw, jl, jo)
    Y.gpu_blocks(ib).gpu_threads(iw).gpu_lanes(jl)
    top.compute_at(Y, ib).store_in(shared).gpu_threads(i)
    top.update.split(k, ko, kl, 32).reorder(i, kl, ko).atomic().gpu_threads(i).gpu_lanes(kl)
}
