"""The noisy photograph of `make demo`, and what denoising it gained.

demo.py noise PICTURE NOISY adds noise; demo.py compare PICTURE NOISY DENOISED BESIDE prints how near
the last two are to the first, and puts the three next to each other.
"""

import sys

import numpy as np
from PIL import Image

SIGMA = 20  # standard deviation of the noise, in levels of 255
SEED = 1

Levels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


def add_noise(picture: Levels) -> Levels:
    """Gaussian noise, the same each time, rounded and clipped to what a picture can hold."""
    noise = np.random.default_rng(SEED).normal(0, SIGMA, picture.shape)
    return np.clip(np.rint(picture + noise), 0, 255).astype(np.uint8)


def psnr(picture: Levels, other: Levels) -> float:
    """Peak signal to noise, in dB: 10 log10 of 255 squared over the mean squared difference."""
    difference = picture.astype(np.float64) - other
    return float(10 * np.log10(255**2 / np.mean(difference**2)))


def main(command: str, *files: str) -> None:
    """Reads and writes the files that the command line names."""
    *read, written = files
    pictures = [np.asarray(Image.open(file).convert("RGB")) for file in read]
    if command == "noise":
        Image.fromarray(add_noise(pictures[0])).save(written)
        return
    original, noisy, denoised = pictures
    print(f"noisy     {psnr(original, noisy):.1f} dB")
    print(f"denoised  {psnr(original, denoised):.1f} dB")
    Image.fromarray(np.concatenate([noisy, denoised, original], axis=1)).save(written)


if __name__ == "__main__":
    main(*sys.argv[1:])
