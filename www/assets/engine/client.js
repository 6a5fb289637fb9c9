// The engine as the page sees it: a state to show, and a search that gets better when the model is there.

import { EngineError, RpcClient, cancelled, serveHere } from './rpc.js';
import { keep, openCache } from './download.js';
import { EncoderSeat, modelKey } from './encoders.js';
import { askedEarly, request, startWorker } from './host.js';
import { hasSimd, isSmall, savesData, wasmProblem } from './support.js';

/**
 * @typedef {'starting' | 'loading' | 'ready' | 'failed'} WordsState
 * @typedef {'waiting' | 'off' | 'loading' | 'preparing' | 'ready' | 'failed'} MeaningState
 * @typedef {'choice' | 'saveData' | 'small' | 'noSimd' | 'noModel' | 'modelAway' | 'service'} OffReason
 * @typedef {{ got: number, total: number, rate: number }} Progress bytes, bytes, bytes a second
 *
 * @typedef {{ folder: string, json: string, files: import('./download.js').Remote[] }} Model
 *
 * The service that has a knowledge base's model, as its author's build asked it.
 * @typedef {{ kind: 'ollama' | 'openai' | 'openai-compatible' | 'voyage', base_url: string, model: string }} Service
 *
 * @typedef {object} EngineState
 * @property {WordsState} words
 * @property {MeaningState} meaning
 * @property {OffReason | undefined} reason     why meaning is off
 * @property {Progress | undefined} progress    of what is loading now
 * @property {number} modelBytes                what searching by meaning downloads in all
 * @property {EngineError | undefined} error    of what failed
 * @property {boolean} restarted                a worker stopped and was started again
 * @property {boolean} [unkept]                 this browser has no space to keep the model for the next visit
 * @property {number} [lost]                    of several knowledge bases, how many could not be loaded
 * @property {string[]} [away]                  the names of their folders
 * @property {number} [of]                      how many there are
 * @property {Service} [service]                where a service has the model instead of the site
 */

/** How often a worker that stopped is started again before its failure is shown as final. */
const MAX_RESTARTS = 2;

/** Text of a knowledge base up to this size is loaded in full once the rest is at hand. Bytes on the wire. */
const KEEP_TEXT = 12_000_000;

/** A service gets questions when the reader has paused for so long, not every letter of them. Milliseconds. */
const SERVICE_PAUSE = 400;

/** Up to this many passages the engine scans the vectors and never walks the graph (`SCAN_UP_TO` in kb-core). */
const SCAN_UP_TO = 200_000;

/** Fires `state` whenever {@link Engine#state} changes. */
export class Engine extends EventTarget {
  /** @type {EngineState} */
  state = { words: 'starting', meaning: 'waiting', reason: undefined, progress: undefined, modelBytes: 0, error: undefined, restarted: false };
  /** What the knowledge base says of itself: title, collections, documents, counts. @type {any} */
  info;

  #base;
  #wantsMeaning;
  /** @type {RpcClient | undefined} */ #search;
  /** @type {EncoderSeat | undefined} */ #encoder;
  /** @type {Promise<void> | undefined} */ #opening;
  #restarts = { search: 0, encoder: 0 };
  /** Searches by words that have no result yet. @type {Set<Promise<any>>} */ #running = new Set();
  /** @type {Uint8Array | undefined} */ #manifest;
  /** @type {Model | undefined} */ #model;
  /** @type {import('./service.js').Access | undefined} */ #access;

  /**
   * @param {URL} base the folder that holds manifest.json, with a slash at the end
   * @param {{ wantsMeaning: boolean, access?: import('./service.js').Access }} options the reader's choice; `true` if they made
   *   none; `access` to the service that has the model, where the reader allowed it
   */
  constructor(base, { wantsMeaning, access }) {
    super();
    this.#access = access;
    this.#base = base;
    this.#wantsMeaning = wantsMeaning;
  }

  /** Loads what a search by words needs, then begins with the model. Never rejects: see {@link Engine#state}. */
  async start() {
    await this.startWords();
    if (this.state.words !== 'ready') return;
    // A question that was typed meanwhile is answered before the model and the rest take their share of the network.
    await this.#answered();
    if (['waiting', 'off', 'failed'].includes(this.state.meaning)) await this.#decideMeaning().catch(() => {});
    // With everything at hand, searching and reading go on without a network.
    if (!savesData()) await this.#ask('loadAllText', [KEEP_TEXT]).catch(() => {});
  }

  /** Waits until no search by words is running that began before now. */
  async #answered() {
    await new Promise((resolve) => setTimeout(resolve, 0));
    await Promise.allSettled([...this.#running]);
  }

  /** Loads what a search by words and reading need, if that has not begun or has failed. Never rejects. */
  async startWords() {
    if (this.state.words === 'starting' || this.state.words === 'failed') this.#opening = this.#openWords();
    await this.#opening?.catch(() => {});
  }

  /**
   * Searches by words.
   * @param {object} query as kb-wasm's `Query`
   * @param {AbortSignal} [signal]
   */
  async searchWords(query, signal) {
    await this.#opening;
    const running = this.#ask('search', [{ ...query, mode: 'lexical' }], signal);
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  /**
   * Searches by words and meaning. Only while `state.meaning` is `ready`.
   * @param {object} query as kb-wasm's `Query`
   * @param {AbortSignal} [signal]
   * @param {boolean} [plain] compare the vectors as they are, so that cosines mean the same in every knowledge base
   */
  async searchMeaning(query, signal, plain = false) {
    const encoder = this.#encoder;
    if (!encoder || this.state.meaning !== 'ready') throw new EngineError('kb::missing', 'the model is not loaded');
    const { k, allowed } = await this.#ask('candidates', [query], signal);
    const candidates = await encoder.call('candidates', [query.text, k, allowed, plain], { signal }).catch((error) => {
      // A service that does not answer will not for the next question either, until the reader tries again.
      if (this.state.service && error.name !== 'AbortError' && this.#encoder === encoder) this.#failMeaning(error);
      throw error;
    });
    return this.#ask('search', [query, candidates], signal);
  }

  /**
   * The cosine of the passage nearest to a question, of vectors as they are. Only while `state.meaning` is `ready`.
   * @param {object} query as kb-wasm's `Query` @param {AbortSignal} [signal] @returns {Promise<number>}
   */
  async nearness(query, signal) {
    if (!this.#encoder || this.state.meaning !== 'ready') throw new EngineError('kb::missing', 'the model is not loaded');
    const { allowed } = await this.#ask('candidates', [query], signal);
    const { scores } = await this.#encoder.call('candidates', [query.text, 1, allowed, true], { signal });
    return scores[0] ?? 0;
  }

  /** What the model is and how large, once that is known. */
  get model() {
    return this.#model && { key: modelKey(this.#model), bytes: this.#model.files.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /**
   * The cosine of a question and each of these texts. Only while `state.meaning` is `ready`.
   * @param {string} question @param {string[]} texts @param {AbortSignal} [signal] @returns {Promise<Float32Array>}
   */
  async similarities(question, texts, signal) {
    if (!this.#encoder || this.state.meaning !== 'ready') throw new EngineError('kb::missing', 'the model is not loaded');
    return this.#encoder.call('similarities', [question, texts], { signal });
  }

  /**
   * Loads the parts of the text that excerpts need, see `missing` in a response.
   * @param {string[]} files @param {AbortSignal} [signal]
   */
  async loadText(files, signal) {
    await this.#ask('loadText', [files], signal);
  }

  /**
   * Whether a document, or a passage of it, meets conditions on what only the index knows of it.
   * @param {{ collection: string, path: string }} document one of `info.documents` @param {{ key: string, value: string }[]} filters
   * @returns {Promise<boolean>}
   */
  async holds({ collection, path }, filters) {
    await this.#opening;
    // A path filter goes by the beginning: documents whose path only begins like this one's are taken out.
    const others = this.info.documents.filter((other) => other.collection === collection && other.path !== path && other.path.startsWith(path));
    const places = [{ key: 'path', value: path }, ...others.map((other) => ({ key: 'path!', value: other.path }))];
    return this.#ask('holds', [{ text: '', collections: [collection], filters: [...filters, ...places] }]);
  }

  /**
   * The text and sections of a document, and the range of one of its passages.
   * @param {number} index in `info.documents` @param {string} chunkId of the passage, or ''
   */
  async document(index, chunkId) {
    await this.#opening;
    return this.#ask('document', [index, chunkId]);
  }

  /** Bytes of WebAssembly memory in use. */
  async memory() {
    const [search, encoder] = await Promise.all([this.#search?.call('memory', []) ?? 0, this.#encoder?.call('memory', []) ?? 0]);
    return { search, encoder };
  }

  /** Loads the model although something spoke against it, or again after a failure. */
  async useMeaning() {
    this.#wantsMeaning = true;
    this.#restarts.encoder = 0;
    await this.#loadMeaning();
  }

  /** How long to wait for the end of a question before its meaning is looked for. Milliseconds. */
  get pause() {
    return this.state.service ? SERVICE_PAUSE : 0;
  }

  /** Whether the reader lets questions go to the service: a permission for one kind is none for another. */
  get #allowed() {
    const { kind } = this.state.service ?? {};
    const needsKey = kind === 'openai' || kind === 'voyage';
    return this.#access !== undefined && this.#access.kind === kind && (!needsKey || this.#access.key.trim() !== '');
  }

  /** Searches by meaning with the service that has the model. @param {import('./service.js').Access} access */
  async useService(access) {
    this.#access = access;
    await this.useMeaning();
  }

  /** Stops with the model and frees its memory. */
  useWordsOnly() {
    this.#wantsMeaning = false;
    this.#encoder?.stop();
    this.#encoder = undefined;
    this.#set({ meaning: 'off', reason: 'choice', progress: undefined, error: undefined });
  }

  // ——— words ———

  async #openWords() {
    try {
      this.#set({ words: 'loading', error: undefined });
      const problem = await wasmProblem();
      if (problem) throw new EngineError(problem, 'WebAssembly is not available');
      this.#search = new RpcClient(() => startWorker(new URL('./search-worker.js', import.meta.url)), {
        onEvent: (name, data) => {
          if (name === 'progress' && this.state.words === 'loading') this.#set({ progress: data });
        },
        onCrash: (error) => this.#restartWords(error),
        here: () => serveHere(new URL('./search-worker.js', import.meta.url)),
      });
      const search = this.#search;
      const early = askedEarly(new URL('../', this.#base));
      for (const [href, coming] of early) coming.then((bytes) => search.call('early', [href, bytes], { transfer: bytes instanceof ArrayBuffer ? [bytes] : [] })).catch(() => {}); // then the worker asks itself
      const { info, manifest } = await search.call('open', [this.#base.href, early.map(([href]) => href)]);
      this.info = info;
      this.#manifest = manifest;
      const { model, answers } = JSON.parse(new TextDecoder().decode(manifest));
      this.info.answers = answers; // nothing for searching, so that the search module does not know it
      const { service } = model ?? {};
      if (service) this.#set({ service });
      this.#set({ words: 'ready', progress: undefined });
    } catch (error) {
      this.#search?.stop();
      this.#search = undefined;
      this.#set({ words: 'failed', progress: undefined, error });
      throw error;
    }
  }

  /** @param {EngineError} error */
  #restartWords(error) {
    if (this.state.words !== 'ready' || this.#restarts.search >= MAX_RESTARTS) {
      this.#set({ words: 'failed', error });
      return;
    }
    this.#restarts.search += 1;
    this.#opening = this.#openWords();
    this.#opening.then(() => this.#set({ restarted: true }), () => {});
  }

  /** @param {string} method @param {any[]} args @param {AbortSignal} [signal] */
  #ask(method, args, signal) {
    if (!this.#search) return Promise.reject(this.state.error ?? cancelled());
    return this.#search.call(method, args, { signal });
  }

  // ——— meaning ———

  async #decideMeaning() {
    /** @type {OffReason | undefined} */
    let reason;
    const { service } = this.state;
    if (!service) this.#model = await this.#findModel();
    if (!service && !this.#model) reason = this.#whyNoModel();
    else if (!hasSimd()) reason = 'noSimd';
    else if (!this.#wantsMeaning) reason = 'choice';
    else if (service && !this.#allowed) reason = 'service';
    else if (service) reason = undefined;
    else if (savesData()) reason = 'saveData';
    else if (isSmall()) reason = 'small';
    if (reason) this.#set({ meaning: 'off', reason });
    else await this.#loadMeaning();
  }

  /** The model's description beside the knowledge base, and what searching by meaning has to download in all. */
  async #findModel() {
    if (!this.info.model) return undefined;
    try {
      const folder = new URL('../model/', this.#base);
      const json = await (await request(new URL('model.json', folder), { cache: 'no-cache' })).text();
      const files = JSON.parse(json).files ?? [];
      // So that a visit without a network knows what there is. With the model itself its newest description is kept.
      openCache(new URL('../', this.#base)).then((cache) => keep(cache, new URL('model.json', folder), json, { replace: false }));
      const bytes = [...files, ...this.#vectorSections()].reduce((sum, file) => sum + file.bytes, 0);
      this.#set({ modelBytes: bytes });
      return { folder: folder.href, json, files };
    } catch (error) {
      if (error.code === 'kb::missing') return undefined;
      this.#failMeaning(error);
      throw error;
    }
  }

  /** @returns {OffReason} */
  #whyNoModel() {
    return this.info.model ? 'modelAway' : 'noModel';
  }

  /** What the encoder needs of this base: a graph only where it would be used. */
  #vectorSections() {
    return this.info.vectorSections.filter(({ kind }) => kind !== 'graph' || this.info.chunks > SCAN_UP_TO);
  }

  async #loadMeaning() {
    try {
      const { service } = this.state;
      if (service && !this.#allowed) return this.#set({ meaning: 'off', reason: 'service', progress: undefined });
      if (!service) this.#model ??= await this.#findModel();
      if (!service && !this.#model) return this.#set({ meaning: 'off', reason: this.#whyNoModel(), progress: undefined });
      this.#encoder?.stop();
      this.#set({ meaning: 'loading', reason: undefined, error: undefined, progress: { got: 0, total: this.state.modelBytes, rate: 0 } });
      // A worker of its own for each base: another may have another address and key.
      const key = this.#model ? modelKey(this.#model) : `service ${this.#base.href}`;
      const encoder = new EncoderSeat(key, this.#base.href, {
        onEvent: (name, { got, total, rate }) => {
          if (this.#encoder !== encoder) return;
          if (name === 'unkept') this.#set({ unkept: true });
          if (name === 'progress') this.#set({ progress: { got, total, rate } });
          if (name === 'preparing') this.#set({ meaning: 'preparing', progress: undefined });
        },
        onCrash: (error) => {
          if (this.#encoder === encoder) this.#restartMeaning(error);
        },
      });
      this.#encoder = encoder;
      if (service) await encoder.call('openService', [this.#manifest, this.#vectorSections(), this.#access]);
      else await encoder.call('open', [this.#manifest, this.#vectorSections(), this.#model]);
      this.#set({ meaning: 'ready', progress: undefined });
    } catch (error) {
      if (error.name === 'AbortError' || this.state.meaning === 'failed' || !this.#encoder) return;
      this.#failMeaning(error);
    }
  }

  /** @param {EngineError} error */
  #restartMeaning(error) {
    const wasReady = this.state.meaning === 'ready';
    this.#failMeaning(error);
    // A model that does not even load would fail in the same way again.
    if (!wasReady || this.#restarts.encoder >= MAX_RESTARTS) return;
    this.#restarts.encoder += 1;
    this.#loadMeaning().then(() => this.#set({ restarted: this.state.meaning === 'ready' }));
  }

  /** @param {EngineError} error */
  #failMeaning(error) {
    this.#encoder?.stop();
    this.#encoder = undefined;
    this.#set({ meaning: 'failed', progress: undefined, error });
  }

  /** @param {Partial<EngineState>} change */
  #set(change) {
    this.state = { ...this.state, ...change };
    this.dispatchEvent(new Event('state'));
  }
}
