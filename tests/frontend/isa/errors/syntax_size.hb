instruction dot(c: i32[M]) in zmm { size M = 16 }
