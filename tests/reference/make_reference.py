"""Writes reference token ids and vectors of a model for the texts of texts.json.

    python3 make_reference.py MODEL_FOLDER NAME

NAME.f32: the vectors in the order of texts.json, float32 little endian, `dim` numbers each, pooled and of length 1,
every text run alone. NAME.json: the model's name and file hashes, `dim`, and for each text its id and token ids.
A text's `prefix` ("query" or "passage") is put before it as the model's description says.
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnxruntime

from onnx_encoder import Encoder

HERE = Path(__file__).resolve().parent


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("model", type=Path, help="folder with model.onnx, tokenizer.json and model.json")
    arguments.add_argument("name", help="name of the fixture")
    options = arguments.parse_args()

    encoder = Encoder(options.model, threads=1)
    texts = json.loads((HERE / "texts.json").read_text())
    rows = [encoder.ids(text["text"], text["prefix"]) for text in texts]
    vectors = np.concatenate([encoder.embed_ids([row]) for row in rows]).astype("<f4")

    (HERE / f"{options.name}.f32").write_bytes(vectors.tobytes())
    head = {
        "model": encoder.info["name"],
        "sha256": {name: hashlib.sha256((options.model / name).read_bytes()).hexdigest()
                   for name in ("model.onnx", "tokenizer.json")},
        "onnxruntime": onnxruntime.__version__,
        "dim": encoder.info["dim"],
    }
    lines = [json.dumps({"id": text["id"], "ids": row}, separators=(",", ":")) for text, row in zip(texts, rows)]
    body = json.dumps(head, indent=1)[:-2] + ',\n "texts": [\n' + ",\n".join(lines) + "\n ]\n}\n"
    (HERE / f"{options.name}.json").write_text(body)
    print(f"{options.name}: {len(texts)} texts, {sum(map(len, rows))} tokens, {vectors.nbytes} bytes of vectors")


if __name__ == "__main__":
    main()
