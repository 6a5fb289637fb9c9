"""Times onnxruntime on the default model: tokens per second over a list of texts, and the latency of one question.

    python3 onnxruntime_native.py MODEL_FOLDER [--texts FILE] [--threads 1] [--variants f32 q4 int8] [--out FILE]

FILE is a JSON list of strings, or of objects with a "text"; without it, the reference texts. Texts get the passage
prefix, are sorted by length and run in batches; tokens counted are those of the texts, special tokens included, padding
left out. Latency is of one input of exactly 8, 16, 32 and 128 tokens. `cpu` and `cpu_seconds` are processor time, which
other work on the machine disturbs less. `lowest_cosine` compares with the shipped file's vectors. Prints one JSON document.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from variants import NAMES, write_variants

HERE = Path(__file__).resolve().parent
LENGTHS = (8, 16, 32, 128)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("model", type=Path)
    arguments.add_argument("--texts", type=Path, default=HERE.parent / "reference" / "texts.json")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--batch", type=int, default=16, help="texts in a batch")
    arguments.add_argument("--rounds", type=int, default=30, help="runs of each latency")
    arguments.add_argument("--seconds", type=float, default=60, help="stop the throughput run after this long")
    arguments.add_argument("--variants", nargs="+", choices=NAMES, default=list(NAMES))
    arguments.add_argument("--cache", type=Path, help="folder that keeps the variants for the next run")
    arguments.add_argument("--out", type=Path, help="write the JSON here instead of printing it")
    options = arguments.parse_args()

    info = json.loads((options.model / "model.json").read_text())
    tokenizer = Tokenizer.from_file(str(options.model / "tokenizer.json"))
    tokenizer.enable_truncation(info["max_tokens"])
    entries = json.loads(options.texts.read_text())
    texts = [entry if isinstance(entry, str) else entry["text"] for entry in entries]
    rows = sorted((tokenizer.encode(info["passage_prefix"] + text).ids for text in texts), key=len)

    report = {"engine": f"onnxruntime {onnxruntime.__version__}", "model": info["name"], "machine": platform.machine(),
              "cores": os.cpu_count(), "threads": options.threads, "batch": options.batch, "texts": len(rows),
              "variants": {}}
    with tempfile.TemporaryDirectory() as folder:
        shipped = vectors(open_session(options.model / "model.onnx", options.threads), sample(rows))
        cache = options.cache or Path(folder)
        for name, path in write_variants(options.model / "model.onnx", cache, options.variants).items():
            report["variants"][name] = measure(path, rows, shipped, options)
    document = json.dumps(report, indent=1)
    if options.out:
        options.out.write_text(document + "\n")
    else:
        sys.stdout.write(document + "\n")


def open_session(path, threads):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])


def sample(rows):
    """About sixteen of the rows, of all lengths."""
    return rows[::max(1, len(rows) // 16)]


def vectors(session, rows):
    """Mean-pooled vectors of length 1, each row run alone."""
    pooled = np.stack([session.run(None, feeds([row]))[0][0].mean(axis=0) for row in rows])
    return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


def measure(path, rows, shipped, options):
    """The numbers of one model file; `shipped` are the shipped file's vectors of `sample(rows)`."""
    started = time.perf_counter()
    session = open_session(path, options.threads)
    loaded = time.perf_counter() - started
    result = {"bytes": path.stat().st_size, "load_ms": round(loaded * 1000, 1)}
    cosines = (vectors(session, sample(rows)) * shipped).sum(axis=1)
    result["lowest_cosine"] = round(float(cosines.min()), 6)
    result["latency_ms"] = {length: latency(session, filled(rows, length), options.rounds) for length in LENGTHS}
    result.update(throughput(session, rows, options))
    return result


def filled(rows, length):
    """One input of exactly `length` tokens: the texts' own tokens between the special ones."""
    body = [token for row in rows for token in row[1:-1]]
    body *= length // len(body) + 1
    return [rows[0][0], *body[:length - 2], rows[0][-1]]


def feeds(rows):
    """Padded inputs for a batch of token id lists."""
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, :len(row)] = row
        mask[number, :len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask}


def latency(session, row, rounds):
    """Milliseconds of single runs, after three to warm up."""
    given = feeds([row])
    times, processor = [], []
    for number in range(rounds + 3):
        started, used = time.perf_counter(), time.process_time()
        session.run(None, given)
        if number >= 3:
            times.append((time.perf_counter() - started) * 1000)
            processor.append((time.process_time() - used) * 1000)
    times.sort()
    return {"median": round(statistics.median(times), 2), "min": round(times[0], 2),
            "p95": round(times[min(len(times) - 1, int(len(times) * 0.95))], 2),
            "cpu": round(statistics.median(processor), 2)}


def throughput(session, rows, options):
    """Tokens per second over length-sorted batches. Every k-th batch is run first, then the ones between, so that a run
    that stops early has still seen all lengths."""
    batches = [rows[start:start + options.batch] for start in range(0, len(rows), options.batch)]
    stride = max(1, round(len(batches) ** 0.5))
    tokens = texts = 0
    session.run(None, feeds(batches[len(batches) // 2]))
    started, used = time.perf_counter(), time.process_time()
    for batch in (batches[i] for first in range(stride) for i in range(first, len(batches), stride)):
        session.run(None, feeds(batch))
        tokens += sum(map(len, batch))
        texts += len(batch)
        if time.perf_counter() - started > options.seconds:
            break
    seconds = time.perf_counter() - started
    processor = time.process_time() - used
    return {"tokens_per_second": round(tokens / seconds, 1), "texts_per_second": round(texts / seconds, 2),
            "tokens": tokens, "seconds": round(seconds, 2), "cpu_seconds": round(processor, 2)}


if __name__ == "__main__":
    main()
