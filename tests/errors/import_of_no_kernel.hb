import "/etc/passwd"
import "std/image"
size N
output O: f32[N]
O[x] = 1
