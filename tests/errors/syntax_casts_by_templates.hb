size N
input A: f32[N]
output O: f32[N]
r[i] = cast<float>(A[i])
O[i] = static_cast<uint8_t>(A[i])
