# Broke: an index whose lanes lay in a vector register, of bytes that no instruction gathers.
# sizes: H=19 target: avx2 fixed: 0 seed: 0
size H
input A: i32[3 * H + 3]
input B: i8[2]
output f3: i32[H]
f2[x] = A[3 * x]
f3[x] = i32(B[clamp(i64(f2[x]), 0, 1)])
schedule s for avx2 {
    f3.split(x, xo, xi, 8).vectorize(xi, 8)
    f2.compute_at(f3, xo).split(x, xo, xi, 8).vectorize(xi, 8)
}
