instruktion dot(c: i32[16]) in zmm { }
