"""Two tiny cross-encoders with random weights, exported as transformers exports real ones, and what onnxruntime
makes of pairs of texts with them. They rank nothing: they show that the operators, the pairing of the texts and
the truncation are those of other implementations.

    pip install torch transformers onnx onnxruntime tokenizers
    python make_cross_encoders.py          writes cross-encoders/{bert,xlmr}/ and cross-encoders/pairs.json
"""

import json
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForSequenceClassification
from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

HERE = Path(__file__).parent / "cross-encoders"
TEXTS = [
    "how do I undo a commit that is already pushed", "git revert makes a new commit that undoes another one",
    "怎样撤销一次提交", "git revert 会新建一个提交，撤销之前的提交。", "the shortest path between two nodes",
    "Dijkstra 算法求单源最短路。", "a reference must not outlive what it points to", "所有权规则：每个值有一个所有者。",
]
PAIRS = [
    ("how do I undo a commit", "git revert makes a new commit that undoes another one"),
    ("how do I undo a commit", "the shortest path between two nodes"),
    ("怎样撤销提交", "git revert 会新建一个提交，撤销之前的提交。"),
    ("怎样撤销提交", "所有权规则：每个值有一个所有者。"),
    ("最短路 shortest path", "Dijkstra 算法求单源最短路。"),
    ("a", ""),
    ("", "a reference"),
    ("😀 what?", "C++ `std::move` 0x80070005 — ok"),
    ("undo", "git revert makes a new commit that undoes another one. " * 20),
    ("怎样撤销提交", "撤销之前的提交，" * 60),
    ("how do I undo a commit that is already pushed " * 12, "git revert makes a new commit " * 12),
    ("how do I undo a commit that is already pushed " * 12, "git"),
]


def bert_tokenizer():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=220, special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def xlmr_tokenizer():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(
        TEXTS, trainers.UnigramTrainer(vocab_size=220, special_tokens=special, unk_token="<unk>"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer


def write(name, tokenizer, model, inputs):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "config.json").write_text(json.dumps({
        "architectures": [type(model).__name__],
        "model_type": model.config.model_type,
        "max_position_embeddings": model.config.max_position_embeddings,
        "id2label": model.config.id2label,
    }, indent=1) + "\n")
    model.eval()
    example = tuple(torch.ones(1, 7, dtype=torch.long) for _ in inputs)
    names = ["input_ids", "attention_mask", "token_type_ids"][:len(inputs)]
    torch.onnx.export(
        model, example, str(folder / "model.onnx"), input_names=names, output_names=["logits"], dynamo=False,
        opset_version=14, dynamic_axes={n: {0: "batch", 1: "tokens"} for n in names} | {"logits": {0: "batch"}})


def truth(name, tokenizer, max_tokens, special):
    session = onnxruntime.InferenceSession(str(HERE / name / "model.onnx"), providers=["CPUExecutionProvider"])
    wanted = {given.name for given in session.get_inputs()}
    rows = []
    for question, passage in PAIRS:
        room = max_tokens - special
        # A question of more than half is cut; then tokenizers itself cuts the passage.
        first = tokenizer.encode(question, add_special_tokens=False)
        first.truncate(room // 2)
        second = tokenizer.encode(passage, add_special_tokens=False)
        tokenizer.enable_truncation(max_tokens, strategy="only_second")
        pair = tokenizer.post_process(first, second)
        tokenizer.no_truncation()
        assert len(pair.ids) <= max_tokens
        feeds = {"input_ids": [pair.ids], "attention_mask": [[1] * len(pair.ids)], "token_type_ids": [pair.type_ids]}
        logits = session.run(None, {k: np.array(v, np.int64) for k, v in feeds.items() if k in wanted})[0][0]
        if len(logits) == 2:
            score = np.exp(logits[1]) / np.exp(logits).sum()
        else:
            score = 1 / (1 + np.exp(-logits[0]))
        rows.append({"question": question, "passage": passage, "ids": pair.ids, "types": pair.type_ids,
                     "logits": [float(x) for x in logits], "score": float(score)})
    return rows


def main():
    torch.manual_seed(7)
    sizes = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
                 initializer_range=0.2, attn_implementation="eager")
    bert, xlmr = bert_tokenizer(), xlmr_tokenizer()
    model = BertForSequenceClassification(
        BertConfig(vocab_size=bert.get_vocab_size(), max_position_embeddings=64, num_labels=2, **sizes))
    write("bert", bert, model, range(3))
    model = XLMRobertaForSequenceClassification(
        XLMRobertaConfig(vocab_size=xlmr.get_vocab_size(), max_position_embeddings=66, type_vocab_size=1, num_labels=1,
                         pad_token_id=1, bos_token_id=0, eos_token_id=2, **sizes))
    write("xlmr", xlmr, model, range(2))
    pairs = {"bert": truth("bert", bert, 64, 3), "xlmr": truth("xlmr", xlmr, 64, 4)}
    (HERE / "pairs.json").write_text(json.dumps(pairs, ensure_ascii=False, indent=0) + "\n")


main()
