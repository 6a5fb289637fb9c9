"""Chooses the pieces that Chinese and English text needs.

Kept are:
- every piece that the source's own segmentation uses in the 150,000 most frequent English and Chinese words, as
  written, capitalised and in capitals (API, JSON), at the start of a word and inside it;
- every piece that is such an English word in some other spelling (JavaScript, iOS);
- every piece of Chinese characters alone: word lists have neither its frequent phrases (of a word and a particle, as
  in "the same ...") nor traditional spellings;
- all single characters, and all pieces of digits, punctuation and symbols, in the ranges of `in_range`.

Segmentation needs no other change: a Unigram model segments with the pieces that are left.
"""

import unicodedata

import wordfreq

METASPACE = "\u2581"
LANGUAGES = ("en", "zh")
WORDS = 150_000  # of each language
SPECIAL = 4  # <s>, <pad>, </s>, <unk>
UNKNOWN_PENALTY = 10.0  # the Unigram rule: an unknown character costs ten more than the least likely piece


class Segmenter:
    """Viterbi segmentation with a Unigram vocabulary; unknown characters come out as themselves."""

    def __init__(self, pieces, scores):
        self.scores = dict(zip(pieces[SPECIAL:], scores[SPECIAL:]))
        self.unknown = min(scores) - UNKNOWN_PENALTY
        self.longest = max(map(len, pieces))

    def segment(self, text):
        """The most likely pieces of `text`, in order."""
        size = len(text)
        best = [0.0] + [float("-inf")] * size
        start = [0] * (size + 1)
        for i in range(size):
            for end in range(i + 1, min(size, i + self.longest) + 1):
                score = self.scores.get(text[i:end])
                if score is None:
                    if end > i + 1:
                        continue
                    score = self.unknown
                if best[i] + score > best[end]:
                    best[end], start[end] = best[i] + score, i
        pieces = []
        while size:
            pieces.append(text[start[size]:size])
            size = start[size]
        return pieces[::-1]


def in_range(character):
    """Latin, Greek, Cyrillic, punctuation, symbols, CJK with kana, full-width forms, emoji."""
    code = ord(character)
    return (code < 0x530 or 0x1E00 <= code < 0xA000 or 0xF900 <= code < 0xFB00
            or 0xFE00 <= code < 0xFFF0 or code >= 0x1F000)


def is_sign(character):
    """A digit, punctuation, symbol, space or combining mark (the metaspace counts as a symbol)."""
    return unicodedata.category(character)[0] in "NPSZM"


def is_han(piece):
    """Chinese characters only, perhaps after a metaspace."""
    return all("\u3400" <= character <= "\u9fff" for character in piece.removeprefix(METASPACE))


def always_kept(piece):
    """Chinese phrases; single characters, and runs of digits and signs, of the kept ranges."""
    return is_han(piece) or all(map(in_range, piece)) and (len(piece) == 1 or all(map(is_sign, piece)))


def kept_ids(source):
    """Ids of the kept pieces in the source's vocabulary, ascending; the four special ids come first."""
    segmenter = Segmenter(source.pieces, source.scores.tolist())
    used, words = set(), set()
    for language in LANGUAGES:
        for word in wordfreq.top_n_list(language, WORDS):
            words.add(word)
            for form in {word, word.capitalize(), word.upper()}:
                form = "".join(source.normalisation.get(ord(c), c) for c in form)
                used.update(segmenter.segment(form))
                used.update(segmenter.segment(METASPACE + form))

    def kept(piece):
        return piece in used or always_kept(piece) or piece.removeprefix(METASPACE).lower() in words

    return [i for i, piece in enumerate(source.pieces) if i < SPECIAL or kept(piece)]
