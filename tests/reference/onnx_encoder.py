"""A sentence encoder on onnxruntime and the `tokenizers` library: the independent side of the comparisons here."""

import json
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer


class Encoder:
    """A model folder (model.onnx, tokenizer.json, model.json) ready to embed texts."""

    def __init__(self, folder, threads=0):
        folder = Path(folder)
        self.info = json.loads((folder / "model.json").read_text())
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(self.info["max_tokens"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.inputs = {given.name for given in self.session.get_inputs()}

    def ids(self, text, prefix=""):
        """Token ids of a text; `prefix` is "query", "passage" or "" (none), cut to the model's longest input."""
        if prefix:
            text = self.info[prefix + "_prefix"] + text
        return self.tokenizer.encode(text).ids

    def embed_ids(self, rows):
        """Vectors, float32 [len(rows), dim] of length 1, of token id lists run as one padded batch."""
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(rows):
            ids[row, :len(tokens)] = tokens
            mask[row, :len(tokens)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in self.inputs:
            feeds["token_type_ids"] = np.zeros_like(ids)
        hidden = self.session.run(None, feeds)[0]
        if self.info["pooling"] == "cls":
            pooled = hidden[:, 0]
        else:
            kept = mask[:, :, None].astype(np.float32)
            pooled = (hidden * kept).sum(axis=1) / kept.sum(axis=1)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def embed(self, texts, prefix="", batch=16):
        """Vectors of texts in their order, computed in batches of similar length."""
        rows = [self.ids(text, prefix) for text in texts]
        vectors = np.empty((len(rows), self.info["dim"]), np.float32)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for start in range(0, len(order), batch):
            chosen = order[start:start + batch]
            vectors[chosen] = self.embed_ids([rows[i] for i in chosen])
        return vectors
