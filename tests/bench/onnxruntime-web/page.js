// Runs in the page: loads one model with onnxruntime-web on one wasm thread and times single inputs.
import * as ort from "./ort/ort.wasm.min.mjs";

ort.env.wasm.numThreads = 1;
ort.env.wasm.proxy = false;
ort.env.wasm.wasmPaths = new URL("./ort/", location.href).href;
ort.env.logLevel = "error";

/** The two inputs of a batch of one. */
function feeds(ids) {
  const tensor = (values) => new ort.Tensor("int64", BigInt64Array.from(values, BigInt), [1, ids.length]);
  return { input_ids: tensor(ids), attention_mask: tensor(ids.map(() => 1)) };
}

/** Sorted milliseconds of `rounds` runs, after three to warm up. */
async function time(session, ids, rounds) {
  const given = feeds(ids);
  const times = [];
  for (let round = -3; round < rounds; round++) {
    const started = performance.now();
    const result = await session.run(given);
    if (round >= 0) times.push(performance.now() - started);
    for (const tensor of Object.values(result)) tensor.dispose();
  }
  return times.sort((a, b) => a - b);
}

/** Mean-pooled vector of length 1, to check that the right thing was timed. */
async function vector(session, ids) {
  const { last_hidden_state: hidden } = await session.run(feeds(ids));
  const dim = hidden.dims[2];
  const sum = new Float64Array(dim);
  hidden.data.forEach((value, index) => { sum[index % dim] += value; });
  const norm = Math.hypot(...sum);
  return Array.from(sum, (value) => value / norm);
}

/**
 * Measures the model at `url`. `rows` are token id lists to time, `check` one whose vector is returned.
 * Times in milliseconds, memory in bytes.
 */
window.measure = async ({ url, rows, rounds, check }) => {
  const started = performance.now();
  const file = new Uint8Array(await (await fetch(url)).arrayBuffer());
  const fetched = performance.now();
  const session = await ort.InferenceSession.create(file, { executionProviders: ["wasm"], graphOptimizationLevel: "all" });
  const ready = performance.now();
  const loaded = wasmBytes();
  const latency = {};
  for (const ids of rows) {
    const times = await time(session, ids, rounds);
    const at = (part) => Number(times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(2));
    latency[ids.length] = { median: at(0.5), min: at(0), p95: at(0.95) };
  }
  return {
    bytes: file.length,
    fetch_ms: Math.round(fetched - started),
    create_ms: Math.round(ready - fetched),
    latency_ms: latency,
    wasm_bytes_loaded: loaded,
    wasm_bytes_peak: wasmBytes(),
    vector: await vector(session, check),
  };
};
window.ready = true;
