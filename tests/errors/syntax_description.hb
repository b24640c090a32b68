feature swirl { machine x86_64 }
