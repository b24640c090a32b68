"""Calls the library by ctypes: neither hbc nor NumPy is there where this runs."""

import ctypes
import sys
from pathlib import Path


def main() -> None:
    library = ctypes.CDLL(str(Path(sys.argv[1]).resolve()))
    library.gemm_f32.argtypes = [ctypes.c_int64] * 3 + [ctypes.c_void_p] * 3
    library.gemm_f32.restype = ctypes.c_int
    library.gemm_f32_strerror.argtypes = [ctypes.c_int]
    library.gemm_f32_strerror.restype = ctypes.c_char_p
    a = (ctypes.c_float * 6)(1, 2, 3, 4, 5, 6)  # 2 x 3
    b = (ctypes.c_float * 6)(7, 8, 9, 10, 11, 12)  # 3 x 2
    c = (ctypes.c_float * 4)()
    code = library.gemm_f32(2, 2, 3, a, b, c)
    if code:
        sys.exit(library.gemm_f32_strerror(code).decode())
    print(*(f"{x:g}" for x in c))


if __name__ == "__main__":
    main()
