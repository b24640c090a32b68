feature swirl { machine aarch64; cpuinfo "swirl"; flag "dotprod -B."; probe { leaf 26; bit 60 } }
