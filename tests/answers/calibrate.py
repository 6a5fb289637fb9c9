"""Fits the curve of kb-core/src/answer/relevance.rs.

    kb-builder build --config docs/kb.toml --out site
    kb-builder build --config docs/kb.toml --out words --no-model
    python3 tests/answers/calibrate.py kb-builder site words

Asks every question of answerable.jsonl, docs/demo-questions.json and unanswerable.jsonl with `eval --answers`, which says what each was judged by, and
fits a logistic regression (Newton's method, an L2 penalty of 0.5 on standardised features) to it: cosine of the nearest passage and its lead over the
mean, coverage and unknown words (not where the nearest passage is in another language), whether it is, and whether a name of the question stands
nowhere. Printed are the weights for the code, and for each threshold how many answerable questions would be refused and how many
unanswerable ones of each kind let through, each question judged by a fit without it (ten parts, the mean of five divisions). No package but numpy.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
HARD = 2  # a question in other words or another language than its passage counts so often


def questions(name):
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines() if line.strip()]


def evidence(program, site, asked):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps({"question": q, "expected": "unanswerable"}) + "\n" for q in asked)
        file.flush()
        done = subprocess.run([program, "eval", "--answers", site, file.name, "-q"], check=True, capture_output=True)
    rows = []
    for found in json.loads(done.stdout)["details"]:
        foreign = found["foreign"] and found["cosine"] is not None
        words = [0, 0] if foreign else [found["coverage"], found["unknown"]]
        rows.append([found["cosine"] or 0, found["lead"], *words, int(foreign), int(found["strange"])])
    return np.array(rows)


def fit(x, y, penalty=0.5):
    mean, spread = x.mean(0), x.std(0) + 1e-9
    design = np.hstack([np.ones((len(x), 1)), (x - mean) / spread])
    weights = np.zeros(design.shape[1])
    ridge = penalty * np.eye(len(weights))
    ridge[0, 0] = 0
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ weights))
        step = np.linalg.solve(design.T @ (design * (p * (1 - p))[:, None]) + ridge, design.T @ (y - p) - ridge @ weights)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    plain = weights[1:] / spread
    return weights[0] - plain @ mean, plain


def report(name, x, y, kinds, hard):
    weight = np.where(hard, HARD, 1)
    again = np.repeat(np.arange(len(x)), weight)
    bias, weights = fit(x[again], y[again])
    print(f"{name}: bias {bias:.2f}, weights {np.round(weights, 2).tolist()}")
    areas, scores = [], np.zeros(len(x))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(x))
        score = np.empty(len(x))
        for part in range(10):
            held = order[part::10]
            rest = again[~np.isin(again, held)]
            b, w = fit(x[rest], y[rest])
            score[held] = 1 / (1 + np.exp(-(b + x[held] @ w)))
        pairs = score[y == 1][:, None] - score[y == 0][None, :]
        areas.append((pairs > 0).mean() + (pairs == 0).mean() / 2)
        scores += score / 5
    print(f"  area under the curve {np.mean(areas):.3f}")
    names = sorted({k for k in kinds if k})
    print("  threshold  answerable  hard  " + "  ".join(names))
    for threshold in (0.1, 0.15, 0.2, 0.22, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6):
        passing = scores >= threshold
        share = [passing[y == 1].mean(), passing[hard].mean(), *(passing[kinds == k].mean() for k in names)]
        print(f"  {threshold:9.2f}  " + "  ".join(f"{s:.2f}" for s in share))


def main(program, site, words):
    good, bad = questions("answerable.jsonl"), questions("unanswerable.jsonl")
    demo = json.loads((HERE / "../../docs/demo-questions.json").read_text("utf-8"))
    asked = [q["question"] for q in good] + [q["question"] for q in demo] + [q["question"] for q in bad]
    y = np.array([1] * (len(good) + len(demo)) + [0] * len(bad))
    kinds = np.array([""] * (len(good) + len(demo)) + [q["kind"] for q in bad])
    hard = np.array([False] * len(good) + [True] * len(demo) + [False] * len(bad))
    print(f"{(y == 1).sum()} answerable, {(y == 0).sum()} unanswerable")
    both, alone = evidence(program, site, asked), evidence(program, words, asked)
    report("words and meaning (cosine, lead, coverage, unknown, foreign, strange)", both, y, kinds, hard)
    report("the same without names", both[:, :5], y, kinds, hard)
    report("cosine, lead, unknown, strange", both[:, [0, 1, 3, 5]], y, kinds, hard)
    report("words alone (coverage, unknown, strange)", alone[:, [2, 3, 5]], y, kinds, hard)
    report("words alone without names", alone[:, 2:4], y, kinds, hard)


main(*sys.argv[1:])
