size N
input a: i32[N]
input b: i32[N]
output q: i32[N]
output r: i32[N]
q[i] = a[i] / b[i]
r[i] = a[i] % b[i]
schedule s for avx2 {
    q.vectorize(i, 8)
    r.vectorize(i, 8)
}
