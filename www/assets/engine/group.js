// Several knowledge bases searched as one. To the page it is an engine like any other.

import { EngineError } from './rpc.js';

/**
 * @typedef {object} Member
 * @property {import('./client.js').Engine} engine
 * @property {URL} site       its folder
 * @property {number} weight  what its results count beside those of the others
 */

/** A base whose nearest passage is this much further away by cosine than that of the best base counts a third of it. */
const FALL = 0.03;

/** What parts of the page search with. @typedef {import('./client.js').Engine | EngineGroup} AnyEngine */

/** Fires `state` whenever {@link EngineGroup#state} changes. */
export class EngineGroup extends EventTarget {
  /** @type {import('./client.js').EngineState} */
  state = { words: 'starting', meaning: 'waiting', reason: undefined, progress: undefined, modelBytes: 0, error: undefined, restarted: false };
  /** As a single base's. Names of collections have the number of their base in front, documents and hits its address as `site`. @type {any} */
  info;

  #members;
  /** Where each base's documents begin in `info.documents`. @type {number[]} */
  #first = [];

  /** @param {Member[]} members */
  constructor(members) {
    super();
    this.#members = members;
    for (const { engine } of members) engine.addEventListener('state', () => this.#changed());
  }

  /** Starts those that have not started or have failed. Never rejects. */
  async start() {
    await Promise.all(this.#members.map(({ engine }) => (engine.state.words === 'ready' && engine.state.meaning !== 'waiting' ? undefined : engine.start())));
    this.#changed();
  }

  /** As a single engine's. */
  async startWords() {
    await Promise.all(this.#members.map(({ engine }) => engine.startWords()));
    this.#changed();
  }

  /** @param {any} query @param {AbortSignal} [signal] */
  searchWords(query, signal) {
    return this.#search(query, signal, false, false);
  }

  /** @param {any} query @param {AbortSignal} [signal] @param {boolean} [plain] */
  searchMeaning(query, signal, plain = false) {
    return this.#search(query, signal, true, plain);
  }

  /** @param {string} question @param {string[]} texts @param {AbortSignal} [signal] */
  async similarities(question, texts, signal) {
    const ready = this.#members.find(({ engine }) => engine.state.meaning === 'ready');
    if (!ready) throw new EngineError('kb::missing', 'the model is not loaded');
    return ready.engine.similarities(question, texts, signal);
  }

  /** @param {string[]} files as in `missing` of a response @param {AbortSignal} [signal] */
  async loadText(files, signal) {
    await Promise.all(this.#members.map(({ engine }, n) => {
      const own = files.filter((file) => file.startsWith(`${n}/`)).map((file) => file.slice(`${n}/`.length));
      return own.length ? engine.loadText(own, signal) : undefined;
    }));
  }

  /** @param {{ site?: string, collection: string, path: string }} document @param {{ key: string, value: string }[]} filters */
  async holds(document, filters) {
    const member = this.#members.find(({ site }) => site.href === document.site);
    return member !== undefined && member.engine.holds(document, filters);
  }

  /** @param {number} index in `info.documents` @param {string} chunkId */
  document(index, chunkId) {
    const n = this.#first.findLastIndex((first) => first >= 0 && first <= index);
    return this.#members[n].engine.document(index - this.#first[n], chunkId);
  }

  async useMeaning() {
    await Promise.all(this.#ready().map(({ engine }) => engine.useMeaning()));
  }

  /** As a single engine's. */
  get pause() {
    return Math.max(0, ...this.#members.map(({ engine }) => engine.pause));
  }

  /** Lets every base that was made with this kind of service use it. @param {import('./service.js').Access} access */
  async useService(access) {
    const { service } = this.state;
    await Promise.all(this.#ready().filter(({ engine }) => engine.state.service?.kind === service?.kind).map(({ engine }) => engine.useService(access)));
  }

  useWordsOnly() {
    for (const { engine } of this.#ready()) engine.useWordsOnly();
  }

  async memory() {
    const all = await Promise.all(this.#members.map(({ engine }) => engine.memory()));
    // The model's worker is shared.
    return { search: all.reduce((sum, { search }) => sum + search, 0), encoder: Math.max(...all.map(({ encoder }) => encoder)) };
  }

  #ready() {
    return this.#members.filter(({ engine }) => engine.state.words === 'ready');
  }

  /** @param {any} query @param {AbortSignal | undefined} signal @param {boolean} meaning @param {boolean} plain */
  async #search(query, signal, meaning, plain) {
    const asked = this.#members.map((member, n) => ({ ...member, n, collections: collectionsOf(query.collections ?? [], n, member) }))
      .filter(({ engine, collections }) => engine.state.words === 'ready' && collections);
    const parts = await Promise.all(asked.map(async ({ engine, collections, ...rest }) => {
      const own = { ...query, collections };
      const byMeaning = meaning && engine.state.meaning === 'ready';
      const response = byMeaning ? await engine.searchMeaning(own, signal, plain) : await engine.searchWords(own, signal);
      const nearness = byMeaning && asked.length > 1 ? await engine.nearness(own, signal) : undefined;
      return { ...rest, response, nearness };
    }));
    return merge(parts, query.k);
  }

  #changed() {
    const { state: before } = this;
    this.state = mergeStates(this.#members);
    if (this.state.words === 'ready' && before.words !== 'ready') this.#describe();
    this.dispatchEvent(new Event('state'));
  }

  #describe() {
    const documents = [];
    const collections = [];
    const titles = [];
    this.#first = this.#members.map(({ engine, site }, n) => {
      if (engine.state.words !== 'ready') return -1;
      const first = documents.length;
      const { info } = engine;
      titles.push(info.title);
      documents.push(...info.documents.map((entry) => ({ ...entry, index: first + entry.index, site: site.href })));
      collections.push(...info.collections.map((each) => ({
        ...each, name: `${n}/${each.name}`, title: info.collections.length === 1 ? info.title || each.name : `${info.title} · ${each.title ?? each.name}`,
      })));
      return first;
    });
    const infos = this.#ready().map(({ engine }) => engine.info);
    /** @type {Map<string, number>} */
    const tags = new Map();
    for (const { name, documents: count } of infos.flatMap((info) => info.tags)) tags.set(name, (tags.get(name) ?? 0) + count);
    this.info = { ...infos[0], tags: [...tags].map(([name, count]) => ({ name, documents: count })).sort((a, b) => b.documents - a.documents), title: titles.filter(Boolean).join(' · '), chunks: infos.reduce((sum, { chunks }) => sum + chunks, 0), collections, documents };
  }
}

/** A collection's name without the number of its base. @param {string} name */
export const bareName = (name) => name.replace(/^\d+\//, '');

/**
 * Which of a base's collections are asked: nothing if none of those that were named is its own.
 * @param {string[]} names with the base's number, or without for that name in any base @param {number} n @param {Member} member
 */
function collectionsOf(names, n, { engine }) {
  if (names.length === 0) return [];
  const own = (engine.info?.collections ?? []).map(({ name }) => name);
  const found = own.filter((name) => names.includes(`${n}/${name}`) || names.includes(name));
  return found.length ? found : undefined;
}

/**
 * One list of several. Each base's own order is kept; what a base counts is its weight times how well it fits the question
 * as a whole: the share of the question's words that its best passage has, and how near its nearest passage is.
 * @param {{ n: number, site: URL, weight: number, response: any, nearness: number | undefined }[]} parts @param {number} k
 */
export function merge(parts, k) {
  const covered = Math.max(...parts.map(({ response }) => response.coverage), 0);
  const nearest = Math.max(...parts.map(({ nearness }) => nearness ?? -Infinity));
  const fits = ({ response, nearness }) => {
    const words = covered > 0 ? response.coverage / covered : 1;
    return nearness === undefined ? words : (words + Math.exp((nearness - nearest) / FALL)) / 2;
  };
  const all = parts.flatMap((part) => {
    const level = part.weight * fits(part);
    const top = part.response.hits[0]?.score || 1;
    return part.response.hits.map((hit) => ({ ...hit, site: part.site.href, score: (level * hit.score) / top }));
  }).sort((a, b) => b.score - a.score);
  // A passage that two bases hold is shown once.
  const seen = new Set();
  const hits = all.filter(({ chunkId }) => !chunkId || (!seen.has(chunkId) && seen.add(chunkId))).slice(0, k).map((hit, i) => ({ ...hit, rank: i + 1 }));
  return {
    ...parts[0]?.response, hits, coverage: covered, unknown: Math.min(...parts.map(({ response }) => response.unknown), 1),
    missing: parts.flatMap(({ n, response }) => response.missing.map((file) => `${n}/${file}`)),
  };
}

/** What readers may know a site by of which nothing could be loaded: the name of its folder. @param {URL} site */
function folderOf({ pathname, host }) {
  const name = pathname.split('/').filter(Boolean).at(-1) ?? host;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** @param {Member[]} members @returns {import('./client.js').EngineState} */
function mergeStates(members) {
  const engines = members.map(({ engine }) => engine);
  const states = engines.map(({ state }) => state);
  const error = states.find((state) => state.error)?.error;
  const failed = states.filter(({ words }) => words === 'failed').length;
  const sum = (list) => ({
    got: list.reduce((all, { got }) => all + got, 0), total: list.reduce((all, { total }) => all + total, 0), rate: list.reduce((all, { rate }) => all + rate, 0),
  });
  const running = states.flatMap(({ progress }) => (progress ? [progress] : []));
  const progress = running.length ? sum(running) : undefined;
  const base = { reason: undefined, progress, modelBytes: bytesOf(engines), error, restarted: states.some(({ restarted }) => restarted), lost: failed, away: members.filter(({ engine }) => engine.state.words === 'failed').map(({ site }) => folderOf(site)), of: states.length, service: states.find(({ service }) => service)?.service };
  if (failed === states.length) return { ...base, words: 'failed', meaning: 'waiting' };
  if (states.some(({ words }) => words === 'starting' || words === 'loading')) {
    return { ...base, words: states.every(({ words }) => words === 'starting') ? 'starting' : 'loading', meaning: 'waiting' };
  }
  const ready = states.filter(({ words }) => words === 'ready');
  for (const meaning of /** @type {const} */ (['loading', 'preparing', 'waiting', 'ready', 'failed'])) {
    if (ready.some((state) => state.meaning === meaning)) return { ...base, words: 'ready', meaning };
  }
  return { ...base, words: 'ready', meaning: 'off', reason: ready[0]?.reason };
}

/** What searching by meaning has to download in all; a model that several share counts once. @param {import('./client.js').Engine[]} engines */
function bytesOf(engines) {
  const seen = new Set();
  return engines.reduce((sum, { model, state }) => {
    const again = model && seen.has(model.key) ? model.bytes : 0;
    if (model) seen.add(model.key);
    return sum + state.modelBytes - again;
  }, 0);
}
