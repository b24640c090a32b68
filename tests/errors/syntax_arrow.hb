size N
input A: f32[N] -> B
