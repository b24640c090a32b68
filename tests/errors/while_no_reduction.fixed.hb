size   N
output n: i32[N]
reduce step in 10
n[i] = 0
n[i] = n[i] + 1 while step: n[i] < 5
