#!/usr/bin/env python3
"""Chooses the weights of the convex combination on test sets, each set judged with the weights that are best for all
the others.

usage: fit_weights.py SETS FEATURES

FEATURES is what `retrieval.py --features` wrote: for each set a table of question, passage, gain, then value and weight
of each part of the score (words, meaning, coverage). SETS is the folder of the sets themselves."""
import collections
import math
import pathlib
import sys

LEXICAL = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]
COVERAGE = [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5]
DISCOUNT = [1 / math.log2(rank + 2) for rank in range(10)]
# The weight with which the features were written.
WRITTEN = 0.5


def read(sets, path):
    """For each question its candidates (passage, words, meaning, coverage, trust in the words), gains, ideal DCG."""
    gains = collections.defaultdict(dict)
    for line in (sets / path.stem / "qrels.tsv").read_text().splitlines()[1:]:
        question, passage, gain = line.split("\t")
        gains[question][passage] = float(gain)
    candidates = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        question, passage, _, *numbers = line.split("\t")
        words, share, meaning, _, coverage, _ = map(float, numbers)
        candidates[question].append((passage, words, meaning, coverage, share / WRITTEN))
    questions = []
    for question, relevant in gains.items():
        best = sorted(relevant.values(), reverse=True)[:10]
        questions.append((candidates[question], relevant, sum(g * d for g, d in zip(best, DISCOUNT))))
    return questions


def ndcg(questions, lexical, coverage):
    total = 0.0
    for candidates, relevant, ideal in questions:
        scored = []
        for passage, words, meaning, matched, trust in candidates:
            share = lexical * trust
            scored.append((-(share * words + (1 - share) * meaning + coverage * matched), passage))
        seen, gain = set(), 0.0
        for _, passage in sorted(scored):
            if passage not in seen:
                gain += relevant.get(passage, 0.0) * DISCOUNT[len(seen)]
                seen.add(passage)
                if len(seen) == 10:
                    break
        total += gain / ideal
    return total / len(questions)


def main():
    sets, features = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    table = {}
    for path in sorted(features.glob("*.tsv")):
        if (sets / path.stem).is_dir():
            questions = read(sets, path)
            table[path.stem] = {(w, c): ndcg(questions, w, c) for w in LEXICAL for c in COVERAGE}
    grid = [(w, c) for w in LEXICAL for c in COVERAGE]

    def best(names):
        return max(grid, key=lambda point: sum(table[name][point] for name in names))

    print("| set | best for the others (words, coverage) | nDCG@10 with those | with 0.5, 0 | best for itself |\n|---|---|---|---|---|")
    for name, own in table.items():
        point = best([other for other in table if other != name])
        print(f"| {name} | {point} | {own[point]:.4f} | {own[0.5, 0.0]:.4f} | {max(own.values()):.4f} |")
    print("best for all:", best(table))


if __name__ == "__main__":
    main()
