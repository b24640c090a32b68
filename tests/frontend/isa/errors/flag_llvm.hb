feature swirl { machine x86_64; cpuinfo "swirl"; flag "-mllvm=-load=./evil.so"; probe { leaf 26; register eax; bit 60 } }
