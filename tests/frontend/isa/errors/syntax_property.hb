feature f { machine x86_64; cpuinfo }
