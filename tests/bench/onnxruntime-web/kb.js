// Runs in the page: loads the model of a built site with kb_encoder and times single questions, tokenising included.
import init, { Encoder } from "./runtime/kb_encoder.js";

const bytes = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());

/** Sorted milliseconds of `rounds` runs, after three to warm up. */
function time(encoder, text, rounds) {
  const times = [];
  for (let round = -3; round < rounds; round++) {
    const started = performance.now();
    encoder.embed(text);
    if (round >= 0) times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b);
}

/** Measures as page.js does. `texts` maps a number of tokens to a question of so many, `check` is a question. */
window.measure = async ({ texts, rounds, check }) => {
  const wasm = await init();
  const started = performance.now();
  const [manifest, onnx, tokenizer, info] = await Promise.all([
    bytes("site/kb/manifest.json"), bytes("site/model/model.onnx"), bytes("site/model/tokenizer.json"), bytes("site/model/model.json"),
  ]);
  const fetched = performance.now();
  const encoder = new Encoder(manifest);
  encoder.load(onnx, tokenizer, new TextDecoder().decode(info));
  const ready = performance.now();
  const loaded = wasm.memory.buffer.byteLength;
  const latency = {};
  for (const [length, text] of Object.entries(texts)) {
    const times = time(encoder, text, rounds);
    const at = (part) => Number(times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(2));
    latency[length] = { median: at(0.5), min: at(0), p95: at(0.95) };
  }
  return {
    bytes: onnx.length + tokenizer.length,
    fetch_ms: Math.round(fetched - started),
    create_ms: Math.round(ready - fetched),
    latency_ms: latency,
    wasm_bytes_loaded: loaded,
    wasm_bytes_peak: wasm.memory.buffer.byteLength,
    vector: Array.from(encoder.embed(check)),
  };
};
window.ready = true;
