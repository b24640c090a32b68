size N
input A: bool[N]
output B: bool[N]
B[i] = true
