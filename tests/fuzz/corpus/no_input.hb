# Broke: gcc warned of the unused function `overlap` where there is one array only.
# sizes: W=3 target: avx512 fixed: 0 seed: 0
size W
output f: f32[W]
f[x] = f32(x)
