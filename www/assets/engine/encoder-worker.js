// The worker that turns questions into vectors and finds the passages near them.

import init, { Encoder } from '../runtime/kb_encoder.js';
import { download, keep, meter, openCache, prune } from './download.js';
import { request, wasmSource } from './host.js';
import { EngineError, emit, serve } from './rpc.js';

/** @type {Encoder} */
let encoder;
/** @type {WebAssembly.Memory | undefined} */
let memory;

serve({
  /**
   * @param {string} href folder of manifest.json
   * @param {Uint8Array} manifest
   * @param {(import('./download.js').Remote & { kind: string })[]} sections `vectors`, and `graph` if there is one
   * @param {import('./client.js').Model} model
   */
  async open(href, manifest, sections, model) {
    const folder = new URL(href);
    const modelFolder = new URL(model.folder);
    const starting = wasmSource(new URL('../runtime/kb_encoder_bg.wasm', import.meta.url)).then((source) => init(source));
    starting.catch(() => {}); // awaited below
    const cache = await openCache(new URL('../', folder));
    const all = [...sections, ...model.files];
    const onProgress = meter(all.reduce((sum, { bytes }) => sum + bytes, 0), (state) => emit('progress', state));
    const modelFile = (name) => {
      const known = model.files.find(({ file }) => file === name);
      if (known) return download(modelFolder, known, { cache, onProgress });
      return request(new URL(name, modelFolder)).then((response) => response.arrayBuffer()).then((buffer) => new Uint8Array(buffer));
    };
    const [onnx, tokenizer, ...files] = await Promise.all([
      modelFile('model.onnx'),
      modelFile('tokenizer.json'),
      ...sections.map((section) => download(folder, section, { cache, onProgress })),
    ]);
    memory = (await starting).memory;
    emit('preparing', undefined);
    encoder = new Encoder(manifest);
    sections.forEach((section, i) => encoder.addSection(section.file, files[i]));
    encoder.load(onnx, tokenizer, model.json);
    prune(cache, modelFolder, model.files);
    keep(cache, new URL('model.json', modelFolder), model.json);
    return undefined;
  },
  candidates(text, k, allowed, plain) {
    if (!encoder) throw new EngineError('kb::missing', 'the model is not loaded');
    const { ids, scores } = encoder.candidates(text, k, allowed, plain);
    return { ids, scores };
  },
  similarities(question, texts) {
    if (!encoder) throw new EngineError('kb::missing', 'the model is not loaded');
    return encoder.similarities(question, texts);
  },
  memory: () => memory?.buffer.byteLength ?? 0,
});
