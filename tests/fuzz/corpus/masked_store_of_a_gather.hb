# Broke: gcc 12 stored the gathered half of a register by VEXTRACTI32X8 under a mask, which faults beyond the output
# sizes: H=1 | H=13 | H=35 target: avx512 fixed: 0 seed: 0
size H
input A: u8[H]
input B: i32[H, 3]
output f: i32[H]
f[y] = (let q = i64(A[y] % 3) in B[y, q])
schedule s for avx512 {
    f.split(y, yo, yi, 16, tail = guard).vectorize(yi, 8, tail = mask)
}
