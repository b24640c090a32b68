size   N
input  X: i32[N]
output Y: u8[N]
bound  X in 0 .. 70_000
input  t: u8[70_000]
Y[i] = t[X[i]]
schedule s for cuda { Y.split(i, io, ii, 64, tail = guard).gpu_blocks(io).gpu_threads(ii) }
