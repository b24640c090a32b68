# How often each of 256 values occurs in an array of bytes, for NVIDIA's GPUs.
#
#     H[v] = number of i with I[i] = v

size   N
input  I: u8[N]
output H: i32[256]

reduce i in N
H[v]          = 0
H[i64(I[i])] += 1

# A block counts 4096 bytes in shared memory, where its threads add atomically, and adds its counts to those of all
# blocks then: 256 additions in the device's memory for 4096 bytes.
schedule shared for cuda {
    H.update.split(i, ib, ii, 4096).rfactor(ib, b)
    H_b.compute_at(H.update, ib).store_in(shared)
    H_b.update.split(ii, io, it, 256).atomic().gpu_threads(it)
    H.update.reorder(ib, v).atomic().gpu_blocks(ib).gpu_threads(v)
}

# Every thread adds to the device's memory.
schedule simt for cuda {
    H.update.split(i, io, it, 256).split(io, ib, iu, 16).reorder(ib, it, iu)
    H.update.atomic().gpu_blocks(ib).gpu_threads(it)
}

example { N = 1000000; I = random(1) }
