"""The encoder as an ONNX graph whose linear weights and word embedding stay at the source's four bits.

Inputs input_ids and attention_mask, int64 [batch, sequence]; output last_hidden_state, float32
[batch, sequence, hidden]. Standard operators are of opset 17; MatMulNBits, MultiHeadAttention, SkipLayerNormalization
and Gelu are onnxruntime's (domain com.microsoft).
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from source import BLOCK

MICROSOFT = "com.microsoft"


class Graph:
    """Nodes and initializers in the order they are added."""

    def __init__(self):
        self.nodes, self.initializers = [], []

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, inputs, output, domain="", **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes))
        return output


def encoder(source, ids):
    """The ONNX model with the word embeddings of the pieces `ids`."""
    graph = Graph()
    mask = graph.node("Cast", ["attention_mask"], "mask_int32", to=TensorProto.INT32)
    x = _embeddings(graph, source, ids)
    for number in range(source.layers):
        x = _layer(graph, source, number, x, mask)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
              for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info(x, TensorProto.FLOAT, ["batch", "sequence", source.hidden])
    body = helper.make_graph(graph.nodes, "encoder", inputs, [output], graph.initializers)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=8, producer_name="make_model.py")


def _embeddings(graph, source, ids):
    """Word rows unpacked from nibbles after the lookup, plus positions, normalised."""
    blocks = source.hidden // BLOCK
    scales, nibbles = source.q4("emb.word", source.tensors["emb.word"].size // (18 * blocks), source.hidden)
    rows = graph.constant("embeddings.word.weight_q4", nibbles[ids].reshape(len(ids), source.hidden // 2))
    row_scales = graph.constant("embeddings.word.scales", scales[ids])
    half_shape = graph.constant("embeddings.half_shape", np.array([0, 0, blocks, BLOCK // 2], np.int64))
    scale_shape = graph.constant("embeddings.scale_shape", np.array([0, 0, blocks, 1], np.int64))
    row_shape = graph.constant("embeddings.row_shape", np.array([0, 0, source.hidden], np.int64))

    packed = graph.node("Gather", [rows, "input_ids"], "embeddings/packed", axis=0)
    packed = graph.node("Cast", [packed], "embeddings/packed_f32", to=TensorProto.FLOAT)
    sixteenth = graph.constant("embeddings.sixteenth", np.float32(1 / 16))
    high = graph.node("Floor", [graph.node("Mul", [packed, sixteenth], "embeddings/shifted")], "embeddings/high")
    sixteen = graph.constant("embeddings.sixteen", np.float32(16))
    low = graph.node("Sub", [packed, graph.node("Mul", [high, sixteen], "embeddings/high16")], "embeddings/low")
    low = graph.node("Reshape", [low, half_shape], "embeddings/low_blocks")
    high = graph.node("Reshape", [high, half_shape], "embeddings/high_blocks")
    nibble = graph.node("Concat", [low, high], "embeddings/nibbles", axis=-1)
    zero = graph.constant("embeddings.zero_point", np.float32(8))
    signed = graph.node("Sub", [nibble, zero], "embeddings/signed")
    scale = graph.node("Gather", [row_scales, "input_ids"], "embeddings/scales_f16", axis=0)
    scale = graph.node("Cast", [scale], "embeddings/scales_f32", to=TensorProto.FLOAT)
    scale = graph.node("Reshape", [scale, scale_shape], "embeddings/scales")
    word = graph.node("Reshape", [graph.node("Mul", [signed, scale], "embeddings/blocks"), row_shape], "embeddings/word")

    table = source.f32("emb.pos", source.positions, source.hidden) + source.f32("emb.type", 2, source.hidden)[0]
    table = graph.constant("embeddings.position_and_type.weight", table)
    shape = graph.node("Shape", ["input_ids"], "embeddings/shape")
    axis = graph.constant("embeddings.sequence_axis", np.array([1], np.int64))
    length = graph.node("Gather", [shape, axis], "embeddings/length", axis=0)
    zeros = graph.constant("embeddings.slice_zero", np.array([0], np.int64))
    position = graph.node("Slice", [table, zeros, length, zeros], "embeddings/position")
    total = graph.node("Add", [word, position], "embeddings/sum")
    gamma = graph.constant("embeddings.norm.weight", source.f32("emb.ln.w", source.hidden))
    beta = graph.constant("embeddings.norm.bias", source.f32("emb.ln.b", source.hidden))
    return graph.node("LayerNormalization", [total, gamma, beta], "embeddings/output", axis=-1, epsilon=source.eps)


def _linear(graph, source, tensor, name, x, rows, columns):
    """x W^T + b with W as MatMulNBits wants it: nibbles in consecutive pairs, low first; zero point 8."""
    scales, nibbles = source.q4(tensor + ".w", rows, columns)
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1)
    pairs = values[..., 0::2] | values[..., 1::2] << 4
    weight = graph.constant(name + ".weight_q4", pairs)
    scale = graph.constant(name + ".scales", scales.astype(np.float32))
    bias = graph.constant(name + ".bias", source.f32(tensor + ".b", rows))
    # Empty names: no zero points, no group index.
    return graph.node("MatMulNBits", [x, weight, scale, "", "", bias], name.replace(".", "/"), MICROSOFT,
                      K=columns, N=rows, bits=4, block_size=BLOCK)


def _residual_norm(graph, source, tensor, name, y, x, output):
    """LayerNorm(y + x)."""
    gamma = graph.constant(name + ".weight", source.f32(tensor + ".w", source.hidden))
    beta = graph.constant(name + ".bias", source.f32(tensor + ".b", source.hidden))
    return graph.node("SkipLayerNormalization", [y, x, gamma, beta], output, MICROSOFT, epsilon=source.eps)


def _layer(graph, source, number, x, mask):
    """One post-norm transformer layer."""
    tensor, name, hidden = f"l{number}", f"layer.{number}", source.hidden
    query, key, value = (_linear(graph, source, f"{tensor}.{short}", f"{name}.attention.{long}", x, hidden, hidden)
                         for short, long in (("q", "query"), ("k", "key"), ("v", "value")))
    # The empty name is the projection bias, which the three products above already carry.
    context = graph.node("MultiHeadAttention", [query, key, value, "", mask], f"layer/{number}/attention/context",
                         MICROSOFT, num_heads=source.heads)
    out = _linear(graph, source, tensor + ".ao", name + ".attention.output", context, hidden, hidden)
    x = _residual_norm(graph, source, tensor + ".aln", name + ".attention.norm", out, x, f"layer/{number}/attention/norm")
    inner = _linear(graph, source, tensor + ".fi", name + ".ffn.inner", x, source.ffn, hidden)
    inner = graph.node("Gelu", [inner], f"layer/{number}/ffn/gelu", MICROSOFT)
    out = _linear(graph, source, tensor + ".fo", name + ".ffn.output", inner, hidden, source.ffn)
    last = number == source.layers - 1
    output = "last_hidden_state" if last else f"layer/{number}/output"
    return _residual_norm(graph, source, tensor + ".oln", name + ".ffn.norm", out, x, output)
