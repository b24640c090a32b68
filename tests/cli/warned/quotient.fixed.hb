param d: i64 = 7
size N
input a: i64[N]
input b: i32[N]
output q: i64[N]
output r: i32[N]
q[i] = a[i] / d
r[i] = i32(a[i]) % b[i]
schedule s for avx2 {
    q.vectorize(i, 8)
    r.vectorize(i, 8)
}
