place p memory registers
instruction dot(c: i32[4]) zmm { }
feature f machine x86_64
