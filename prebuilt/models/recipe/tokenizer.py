"""Writes the kept pieces as a `tokenizers` JSON file that gives the source's own token ids."""

import base64
import json

import numpy as np

from charsmap import compile_charsmap

# `Precompiled` looks its table up by grapheme: of a short one (under six bytes) that begins with a mapped character it
# replaces the whole, and the marks that follow are lost. The source maps code point by code point. A control character
# ends a grapheme and the table deletes U+0001, so one is put before every character that can extend a grapheme.
GRAPHEME_BREAK = {
    "type": "Replace",
    "pattern": {"Regex": r"(?<=[^\x00-\x7F])(?=[\p{M}\x{200C}\x{200D}\x{FF9E}\x{FF9F}\x{0E33}\x{0EB3}])"},
    "content": "\u0001",
}


def tokenizer_json(source, ids):
    """Bytes of tokenizer.json for the pieces `ids` of the source; no truncation, no padding."""
    table = {chr(code): text for code, text in source.normalisation.items()}
    vocabulary = [[source.pieces[i], _number(source.scores[i])] for i in ids]
    start, end = (source.pieces[0], 0), (source.pieces[2], 2)

    def special(token):
        return {"SpecialToken": {"id": token[0], "type_id": 0}}

    def sequence(name):
        return {"Sequence": {"id": name, "type_id": 0}}

    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                GRAPHEME_BREAK,
                {"type": "Precompiled",
                 "precompiled_charsmap": base64.b64encode(compile_charsmap(table)).decode()},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special(start), sequence("A"), special(end)],
            "pair": [special(start), sequence("A"), special(end), special(end), sequence("B"), special(end)],
            "special_tokens": {token: {"id": token, "ids": [number], "tokens": [token]} for token, number in (start, end)},
        },
        "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        "model": {"type": "Unigram", "unk_id": 3, "vocab": vocabulary, "byte_fallback": False},
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _number(score):
    """The shortest decimal that reads back as the same float32."""
    return float(np.format_float_positional(np.float32(score), unique=True, trim="0"))
