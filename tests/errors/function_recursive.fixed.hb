size N
output O: i64[N]
reduce t in 1 .. N
O[i] = 0
O[t] = O[t - 1] + 1
