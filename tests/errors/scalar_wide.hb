size N
input n: i64
input m: i64
bound m in -1 .. 1 << 41
input k: i64
bound k in -N .. N
output y: i64[N]
y[i] = n + m + k + i
