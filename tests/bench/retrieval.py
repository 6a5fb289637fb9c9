#!/usr/bin/env python3
"""Measures retrieval on test sets with `kb-builder eval`: nDCG@10 of the words' list, of the vectors' list, and of
both together, as a Markdown table.

usage: retrieval.py KB_BUILDER SETS [--cache DIR] [--features DIR] [--only NAME ...]

SETS is a folder of test sets (corpus.jsonl, queries.jsonl, qrels.tsv). Two sets named xquad-en and xquad-zh, whose ids
differ in the language only, are also crossed: the questions of one on the passages of the other."""
import argparse
import json
import pathlib
import subprocess
import tempfile


def crossed(sets, folder):
    """The questions of each language's XQuAD on the passages of the other."""
    names = {}
    for ask, on in (("zh", "en"), ("en", "zh")):
        own, other = sets / f"xquad-{ask}", sets / f"xquad-{on}"
        if not (own.is_dir() and other.is_dir()):
            continue
        out = pathlib.Path(folder) / f"xquad-x-{ask}2{on}"
        out.mkdir()
        (out / "corpus.jsonl").write_bytes((other / "corpus.jsonl").read_bytes())
        (out / "queries.jsonl").write_bytes((own / "queries.jsonl").read_bytes())
        lines = (own / "qrels.tsv").read_text().splitlines()
        pairs = [line.split("\t") for line in lines[1:]]
        rows = [f"{q}\t{on}{p[2:]}\t{gain}" for q, p, gain in pairs]
        (out / "qrels.tsv").write_text("\n".join([lines[0], *rows]) + "\n")
        names[out.name] = out
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("sets", type=pathlib.Path)
    parser.add_argument("--cache")
    parser.add_argument("--features", type=pathlib.Path, help="write what each score is made of, for fit_weights.py")
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sets = {p.name: p for p in sorted(args.sets.iterdir()) if (p / "qrels.tsv").is_file()}
        sets |= crossed(args.sets, folder)
        print("| set | words | meaning | together | 95 % | p95 ms |\n|---|---|---|---|---|---|")
        for name, path in sets.items():
            if args.only and name not in args.only:
                continue
            row = []
            for mode in ("lexical", "vector", "hybrid"):
                command = [args.program, "eval", str(path), "-q", "--mode", mode]
                command += ["--cache-dir", args.cache] if args.cache else []
                if args.features and mode == "hybrid":
                    args.features.mkdir(parents=True, exist_ok=True)
                    command += ["--features-out", str(args.features / f"{name}.tsv")]
                row.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
            low, high = row[2]["ndcg10_interval"]
            scores = " | ".join(f"{r['ndcg10']:.4f}" for r in row)
            print(f"| {name} | {scores} | {low:.3f} to {high:.3f} | {row[2]['query_ms_p95']} |", flush=True)


if __name__ == "__main__":
    main()
