place p { machine x86_64; memory registers; row_bytes 16 }
