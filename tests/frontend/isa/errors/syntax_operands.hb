instruction dot(c: i32[16] a: u8[16, 4]) in zmm { }
