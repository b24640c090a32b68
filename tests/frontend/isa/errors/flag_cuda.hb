feature swirl { machine cuda; cpuinfo "swirl"; flag "-Xcompiler=-fplugin"; probe { leaf 26; bit 60 } }
