"""Arrays as small PNG files, for the examples of the gallery; needs nothing but NumPy."""

import struct
import zlib
from pathlib import Path

import numpy as np

# Colours at equal distances between the least and the greatest value.
COLOURS = {
    "fire": ["#08061f", "#4a0c6b", "#a52c60", "#ed6925", "#f7d13d", "#fcffa4"],
    "sea": ["#0b1d51", "#1f5a8c", "#3fa7b5", "#a9dcc3", "#f6f7e4"],
    "both": ["#14418b", "#7fb2d8", "#f7f7f7", "#ef9a76", "#8f1529"],
    "grey": ["#000000", "#ffffff"],
}


def save(name, values, low=None, high=None, colours="fire", scale=1):
    """Writes `name.png` into the current folder: one point of `values` is `scale` x `scale` pixels."""
    values = np.asarray(values, np.float64)
    low = values.min() if low is None else low
    high = values.max() if high is None else high
    level = np.clip((values - low) / ((high - low) or 1.0), 0, 1)
    # 64 levels: smooth enough, and small files.
    index = np.minimum((level * 64).astype(np.uint8), 63).repeat(scale, 0).repeat(scale, 1)
    path = Path(f"{name}.png")
    path.write_bytes(_png(index, _palette(COLOURS[colours])))
    print(f"{path}: {index.shape[1]} x {index.shape[0]} pixels")


def _palette(colours):
    stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours], float)
    place = np.linspace(0, len(stops) - 1, 64)
    return np.stack([np.interp(place, range(len(stops)), stops[:, part]) for part in range(3)], 1).round().astype(np.uint8)


def _png(index, palette):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = index.shape
    # Each row says first how it is packed: 0, as it is.
    rows = np.hstack([np.zeros((height, 1), np.uint8), index]).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", head), (b"PLTE", palette.tobytes()), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)
