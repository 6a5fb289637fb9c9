// The worker that turns questions into vectors and finds the passages near them: one model, any number of knowledge bases.
// Where a service has the model, the questions are sent there.

import init, { Encoder } from '../runtime/kb_encoder.js';
import { download, keep, meter, openCache, prune } from './download.js';
import { request, wasmSource } from './host.js';
import { EngineError, serve } from './rpc.js';
import { serviceOf, vectors } from './service.js';

/** By the address of the knowledge base's folder. @type {Map<string, Encoder>} */
const encoders = new Map();
/** The same for those whose model a service has. @type {Map<string, import('./service.js').Asked>} */
const services = new Map();
/** The model: when its files are here, and the encoder that has loaded them, which the others share. @type {{ here: Promise<any>, holder: Promise<Encoder> } | undefined} */
let loading;
/** @type {WebAssembly.Memory | undefined} */
let memory;

const { emit } = serve({
  /**
   * @param {string} href folder of manifest.json
   * @param {Uint8Array} manifest
   * @param {(import('./download.js').Remote & { kind: string })[]} sections `vectors`, and `graph` if there is one
   * @param {import('./client.js').Model} model taken from the first that asks; all name the same files
   */
  async open(href, manifest, sections, model) {
    const folder = new URL(href);
    const cache = await openCache(new URL('../', folder));
    const first = !loading;
    const all = first ? [...sections, ...model.files] : sections;
    const onProgress = meter(all.reduce((sum, { bytes }) => sum + bytes, 0), (state) => emit('progress', { base: href, ...state }));
    if (first) {
      loading = loadModel(manifest, model, { cache, onProgress, onUnkept: () => emit('unkept', { base: href }) });
      loading.holder.catch(() => (loading = undefined));
    }
    const shared = /** @type {NonNullable<typeof loading>} */ (loading);
    const [files] = await Promise.all([Promise.all(sections.map((section) => download(folder, section, { cache, onProgress }))), shared.here]);
    emit('preparing', { base: href });
    const holder = await shared.holder;
    const encoder = new Encoder(manifest);
    sections.forEach((section, i) => encoder.addSection(section.file, files[i]));
    encoder.share(holder);
    encoders.get(href)?.free();
    encoders.set(href, encoder);
    return undefined;
  },
  /**
   * In place of `open`, for a knowledge base whose model a service has.
   * @param {string} href @param {Uint8Array} manifest @param {(import('./download.js').Remote & { kind: string })[]} sections
   * @param {import('./service.js').Access} access
   */
  async openService(href, manifest, sections, access) {
    const folder = new URL(href);
    const cache = await openCache(new URL('../', folder));
    const onProgress = meter(sections.reduce((sum, { bytes }) => sum + bytes, 0), (state) => emit('progress', { base: href, ...state }));
    memory = (await runtime()).memory;
    const asked = await serviceOf(manifest, access);
    // Says at once whether the service answers.
    const [files] = await Promise.all([Promise.all(sections.map((section) => download(folder, section, { cache, onProgress }))), vectors(asked, true, ['a'])]);
    const encoder = new Encoder(manifest);
    sections.forEach((section, i) => encoder.addSection(section.file, files[i]));
    encoders.get(href)?.free();
    encoders.set(href, encoder);
    services.set(href, asked);
    return undefined;
  },
  async candidates(href, text, k, allowed, plain) {
    const asked = services.get(href);
    if (asked && !at(href).knows(text)) {
      const [vector] = await vectors(asked, true, [text]);
      at(href).know(text, vector);
    }
    const { ids, scores } = at(href).candidates(text, k, allowed, plain);
    return { ids, scores };
  },
  async similarities(href, question, texts) {
    const asked = services.get(href);
    if (!asked) return at(href).similarities(question, texts);
    const [[mine], theirs] = await Promise.all([vectors(asked, true, [question]), vectors(asked, false, texts)]);
    return Float32Array.from(theirs, (vector) => vector.reduce((sum, x, i) => sum + x * mine[i], 0));
  },
  close(href) {
    services.delete(href);
    encoders.get(href)?.free();
    encoders.delete(href);
  },
  memory: () => memory?.buffer.byteLength ?? 0,
});

/** The module, started once. */
const runtime = () => wasmSource(new URL('../runtime/kb_encoder_bg.wasm', import.meta.url)).then((source) => init(source));

/** @param {string} href */
function at(href) {
  const encoder = encoders.get(href);
  if (!encoder) throw new EngineError('kb::missing', 'the model is not loaded');
  return encoder;
}

/**
 * @param {Uint8Array} manifest of a knowledge base that was built with this model
 * @param {import('./client.js').Model} model
 * @param {{ cache: Cache | undefined, onProgress: (bytes: number) => void, onUnkept: () => void }} options
 */
function loadModel(manifest, model, { cache, onProgress, onUnkept }) {
  const folder = new URL(model.folder);
  const starting = runtime();
  starting.catch(() => {}); // awaited below
  const file = (name) => {
    const known = model.files.find((each) => each.file === name);
    if (known) return download(folder, known, { cache, priority: 'low', onProgress, onUnkept });
    return request(new URL(name, folder)).then((response) => response.arrayBuffer()).then((buffer) => new Uint8Array(buffer));
  };
  // Of two tabs one downloads, and the other finds the files kept.
  const here = alone(`kb-builder:${folder.href}`, () => Promise.all([file('model.onnx'), file('tokenizer.json')]));
  const load = async () => {
    const [onnx, tokenizer] = await here;
    memory = (await starting).memory;
    const holder = new Encoder(manifest);
    holder.load(onnx, tokenizer, model.json);
    prune(cache, folder, model.files);
    keep(cache, new URL('model.json', folder), model.json);
    return holder;
  };
  return { here, holder: load() };
}

/** @template T @param {string} name @param {() => Promise<T>} work @returns {Promise<T>} */
async function alone(name, work) {
  if (!navigator.locks) return work();
  let begun = false;
  try {
    return await navigator.locks.request(name, () => {
      begun = true;
      return work();
    });
  } catch (error) {
    // Pages from the disk may have no locks.
    if (begun) throw error;
    return work();
  }
}
