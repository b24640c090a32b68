"""Will hold the enumerative synthesis of data movement: swizzles from sketches."""
