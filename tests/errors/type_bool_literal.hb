size N
input A: bool[N]
output B: bool[N]
B[i] = 1
