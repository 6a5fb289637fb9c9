"""Writes the texts of the throughput benchmark: the paragraphs of the project's own guide and courses, as a JSON list.

    python3 texts.py OUT.json
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main():
    paragraphs = []
    for path in sorted(ROOT.glob("docs/**/*.md")):
        paragraphs += [part.strip() for part in path.read_text(encoding="utf-8").split("\n\n") if len(part.strip()) > 40]
    Path(sys.argv[1]).write_text(json.dumps(paragraphs, ensure_ascii=False), encoding="utf-8")
    print(f"{len(paragraphs)} texts")


if __name__ == "__main__":
    main()
