size N
input A: uint8_t[N]
input B: double[N]
input C: int[N]
input W: int4[N]
input T: string[N]
output O: float[N]
O[x] = 1
