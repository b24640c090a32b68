size   N
input  X: f32[N]
output Y: f32[N]

reduce t in 1 .. N
Y[i]  = X[i]
Y[t]  = Y[t - 1] + X[t]

schedule s for cuda {
    Y.split(i, io, ii, 256).gpu_blocks(io).gpu_threads(ii)
}
