"""bf16 as its 16 bits, for NumPy has no such type."""

from typing import Any

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint16]


def to_bits(values: npt.NDArray[Any]) -> Bits:
    """Rounds to the nearest bf16, ties to even."""
    word = values.astype(np.float32).view(np.uint32)
    return ((word + 0x7FFF + ((word >> 16) & 1)) >> 16).astype(np.uint16)


def to_f32(bits: Bits) -> npt.NDArray[np.float32]:
    """The same values, exactly."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_torch(torch: Any, bits: Bits) -> Any:
    """A bf16 tensor over the same memory."""
    return torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16)
