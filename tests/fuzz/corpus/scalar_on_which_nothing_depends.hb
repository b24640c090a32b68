# Broke: gcc's warning of a parameter that the entry point does not read.
# sizes: W=1 target: avx512vnni fixed: 0 seed: 0
size W
input A: u8[W]
output f0: i32[W]
input S: i32
f0[x] = i32(A[x])
