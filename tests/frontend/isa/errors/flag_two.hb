feature swirl { machine x86_64; cpuinfo "swirl"; flag "-mavx2 -o /etc/passwd"; probe { leaf 26; register eax; bit 60 } }
