"""Retrieval with onnxruntime's vectors alone: writes run files and prints nDCG@10.

    python3 xquad_onnxruntime.py MODEL_FOLDER SETS_FOLDER [--sets xquad-zh xquad-en] [--no-title]

SETS_FOLDER holds score.py and one folder per set (corpus.jsonl, queries.jsonl, qrels.tsv). A passage is its title, a
newline and its text, or the text alone if it has no title or with --no-title. Runs go to runs/SET.tsv: question,
passage, cosine, the best ten first; equal cosines in the order of the corpus.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from onnx_encoder import Encoder

RUNS = Path(__file__).resolve().parent / "runs"
DEPTH = 10


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("model", type=Path)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--sets", nargs="+", default=["xquad-zh", "xquad-en"])
    arguments.add_argument("--no-title", action="store_true", help="leave titles out of passages")
    arguments.add_argument("--threads", type=int, default=0, help="of onnxruntime; 0 is its own choice")
    options = arguments.parse_args()

    missing = [name for name in options.sets if not (options.folder / name / "corpus.jsonl").is_file()]
    if missing:
        print(f"skipped: {options.folder} has no set {', '.join(missing)}")
        return
    encoder = Encoder(options.model, options.threads)
    RUNS.mkdir(exist_ok=True)
    for name in options.sets:
        run = RUNS / f"{name}{'-no-title' if options.no_title else ''}.tsv"
        run.write_text(retrieve(encoder, options.folder / name, not options.no_title))
        command = [sys.executable, str(options.folder / "score.py"), "--run", str(run), name]
        print(run.name, subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip(), flush=True)


def retrieve(encoder, folder, titles):
    """The lines of a run file for the set in `folder`."""
    corpus, queries = (read_lines(folder / name) for name in ("corpus.jsonl", "queries.jsonl"))
    passages = [f"{row['title']}\n{row['text']}" if titles and row["title"] else row["text"] for row in corpus]
    documents = encoder.embed(passages, "passage")
    questions = encoder.embed([row["text"] for row in queries], "query")
    lines = []
    for query, cosines in zip(queries, questions @ documents.T):
        for best in np.argsort(-cosines, kind="stable")[:DEPTH]:
            lines.append(f"{query['id']}\t{corpus[best]['id']}\t{cosines[best]:.6f}\n")
    return "".join(lines)


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    main()
