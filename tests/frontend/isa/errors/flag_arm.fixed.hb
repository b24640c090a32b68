feature swirl { machine aarch64; cpuinfo "swirl"; flag "dotprod"; probe { leaf 26; bit 60 } }
