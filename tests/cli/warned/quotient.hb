size N
input a: i64[N]
input b: i64[N]
output q: i64[N]
output r: i64[N]
q[i] = a[i] / b[i]
r[i] = a[i] % b[i]
schedule s for avx2 {
    q.vectorize(i, 8)
    r.vectorize(i, 8)
}
