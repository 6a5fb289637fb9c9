"""Writes the default model's weights in other forms, so that the same numbers are timed.

    python3 variants.py MODEL_FOLDER OUT_FOLDER

OUT_FOLDER gets q4.onnx (the shipped file), f32.onnx (plain MatMul, the four-bit weights expanded to float32) and
int8.onnx (f32.onnx through onnxruntime's dynamic quantiser, one scale for each output channel).
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

NAMES = ("f32", "q4", "int8")
# The nodes that unpack word rows; `expand` puts one lookup in their place.
UNPACKING = ("embeddings/packed", "embeddings/word")


def write_variants(model, out, names=NAMES):
    """Writes the named variants of `model` (a model.onnx) into `out`; returns name -> path. Existing files stay."""
    out.mkdir(parents=True, exist_ok=True)
    paths = {name: out / f"{name}.onnx" for name in NAMES}
    if "q4" in names and not paths["q4"].exists():
        shutil.copyfile(model, paths["q4"])
    if {"f32", "int8"} & set(names) and not paths["f32"].exists():
        onnx.save(expand(onnx.load(model)), paths["f32"])
    if "int8" in names and not paths["int8"].exists():
        quantize_dynamic(paths["f32"], paths["int8"], per_channel=True, weight_type=QuantType.QInt8,
                         extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})
    return {name: paths[name] for name in names}


def expand(model):
    """The model with float32 weights: MatMulNBits becomes MatMul and Add, the unpacking of word rows one Gather."""
    graph = model.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    added, nodes, inside = {}, [], False
    for node in graph.node:
        inside = inside or node.output[0] == UNPACKING[0]
        if node.op_type == "MatMulNBits":
            x, weight, scales, bias = node.input[0], node.input[1], node.input[2], node.input[5]
            added[weight] = unpack_pairs(constants[weight], constants[scales]).T
            added[bias] = constants[bias]
            nodes.append(helper.make_node("MatMul", [x, weight], [node.output[0] + "/product"]))
            nodes.append(helper.make_node("Add", [node.output[0] + "/product", bias], [node.output[0]]))
        elif not inside:
            nodes.append(node)
            added.update((name, constants[name]) for name in node.input if name in constants)
        if node.output[0] == UNPACKING[1]:
            inside = False
            packed, scales = constants["embeddings.word.weight_q4"], constants["embeddings.word.scales"]
            added["embeddings.word.weight"] = unpack_halves(packed, scales)
            nodes.append(helper.make_node("Gather", ["embeddings.word.weight", "input_ids"], [node.output[0]], axis=0))
    tensors = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in added.items()]
    body = helper.make_graph(nodes, graph.name, list(graph.input), list(graph.output), tensors)
    return helper.make_model(body, opset_imports=list(model.opset_import), ir_version=model.ir_version)


def unpack_pairs(packed, scales):
    """float32 [rows, columns] of MatMulNBits weights [rows, blocks, 16]: consecutive pairs, low nibble first."""
    values = np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:2], 32)
    return ((values.astype(np.float32) - 8) * scales[..., None]).reshape(len(packed), -1)


def unpack_halves(packed, scales):
    """float32 [rows, columns] of Q4_0 rows: of a block's 16 bytes the low nibbles first, then the high ones."""
    blocks = packed.reshape(len(packed), -1, 16)
    values = np.concatenate([blocks & 15, blocks >> 4], axis=-1)
    return ((values.astype(np.float32) - 8) * scales.astype(np.float32)[..., None]).reshape(len(packed), -1)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("model", type=Path)
    arguments.add_argument("out", type=Path)
    options = arguments.parse_args()
    for name, path in write_variants(options.model / "model.onnx", options.out).items():
        print(f"{name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
