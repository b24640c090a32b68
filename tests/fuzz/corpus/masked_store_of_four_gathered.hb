# Broke: the same for a gather of four words by places of 64 bits, an intrinsic of 256 bits that gives 128
# sizes: H=1 | H=6 | H=35 target: avx512 fixed: 0 seed: 0
size H
input A: u8[H]
input B: i32[H, 3]
output f: i32[H]
f[y] = (let q = i64(A[y] % 3) in B[y, q])
schedule s for avx512 {
    f.split(y, yo, yi, 16, tail = guard).vectorize(yi, 4, tail = mask)
}
