"""Fits the curve of kb-core/src/answer/relevance.rs.

    kb-builder build --config docs/kb.toml --out site && kb-builder serve site --api --port 8089 &
    python3 tests/answers/calibrate.py http://localhost:8089

Asks every question of answerable.jsonl, docs/demo-questions.json and unanswerable.jsonl, and fits a logistic regression (Newton's method, an L2 penalty
of 0.5 on standardised features) to what the search says: cosine of the nearest passage and its lead over the mean, coverage and unknown words (not where
the nearest passage is in another language), and whether it is. Printed are
the weights for the code, and for each threshold how many answerable questions would be refused and how many unanswerable
ones let through, each question judged by a fit without it (ten parts). No package but numpy.
"""

import json
import re
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def questions(name):
    return [json.loads(line)["question"] for line in (HERE / name).read_text("utf-8").splitlines() if line.strip()]


def evidence(base, question, mode):
    query = urllib.parse.urlencode({"q": question, "k": 10, "mode": mode})
    with urllib.request.urlopen(f"{base}/api/search?{query}") as reply:
        found = json.load(reply)
    near = [(hit["vector_score"], hit["lang"]) for hit in found["hits"] if hit["vector_score"] is not None and mode != "lexical"]
    coverage, unknown = found["coverage"], found["unknown"]
    if not near:
        return [0, 0, coverage, unknown, 0]
    cosine, lang = max(near)
    lead = cosine - sum(c for c, _ in near) / len(near)
    asked = "zh" if re.search("[\u4e00-\u9fff]", question) else "en"
    foreign = lang in ("zh", "en") and lang != asked
    return [cosine, lead, 0 if foreign else coverage, 0 if foreign else unknown, int(foreign)]


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


def report(name, x, y):
    bias, weights = fit(x, y)
    print(f"{name}: bias {bias:.2f}, weights {np.round(weights, 2).tolist()}")
    order = np.random.default_rng(1).permutation(len(x))
    score = np.empty(len(x))
    for part in range(10):
        held = order[part::10]
        rest = np.setdiff1d(order, held)
        b, w = fit(x[rest], y[rest])
        score[held] = 1 / (1 + np.exp(-(b + x[held] @ w)))
    pairs = score[y == 1][:, None] - score[y == 0][None, :]
    print(f"  area under the curve {((pairs > 0).mean() + (pairs == 0).mean() / 2):.3f}")
    print("  threshold  answerable refused  unanswerable let through")
    for threshold in (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7):
        print(f"  {threshold:9.2f}  {(score[y == 1] < threshold).mean():18.3f}  {(score[y == 0] >= threshold).mean():24.3f}")


def main(base):
    good, bad = questions("answerable.jsonl"), questions("unanswerable.jsonl")
    demo = json.loads((HERE / "../../docs/demo-questions.json").read_text("utf-8"))
    good += [entry["question"] for entry in demo]
    y = np.array([1] * len(good) + [0] * len(bad))
    both = np.array([evidence(base, q, "hybrid") for q in good + bad])
    words = np.array([evidence(base, q, "lexical") for q in good + bad])
    print(f"{len(good)} answerable, {len(bad)} unanswerable")
    report("words and meaning (cosine, lead, coverage, unknown, foreign)", both, y)
    report("words alone (coverage, unknown)", words[:, 2:4], y)


main(sys.argv[1].rstrip("/"))
