size N
input n: i64
bound n in -1_000 .. 1_000
input m: i64
bound m in -1_000 .. 1_000
input k: i64
bound k in -N .. N
output y: i64[N]
y[i] = n + m + k + i
