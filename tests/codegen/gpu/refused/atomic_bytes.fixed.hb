size   N
input  I: u8[N]
output H: i32[256]

reduce t in N
H[v]          = 0
H[i64(I[t])] += 1

schedule s for cuda {
    H.update.split(t, to, ti, 256).atomic().gpu_blocks(to).gpu_threads(ti)
}
