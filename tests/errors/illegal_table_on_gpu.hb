size   N
input  X: i32[N]
output Y: u8[N]
bound  X in 0 .. 70_000
table  t: u8[70_000] [i] = u8(i % 251)
Y[i] = t[X[i]]
schedule s for cuda { Y.split(i, io, ii, 64, tail = guard).gpu_blocks(io).gpu_threads(ii) }
