# --set alpha=0.5 --set n=1 --set T=f32 --set N=1 --set b=255 --set flag=true
param alpha: f32 = 0.5
param n: i32 = 1
param b: u8 = 1
param flag: bool = true
type T = f32
size N
input A: f32[N]
output B: f32[N]
B[i] = alpha * A[i]
