size N
input I: u8[N]
output H: i32[256]
output T: f32[1]
reduce k in N
H[b] = 0
H[i64(I[k])] += 1
T[z] = 0
T[0] += f32(I[k])
