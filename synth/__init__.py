"""The enumerative synthesis of data movement: swizzles from sketches."""
