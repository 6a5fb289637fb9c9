// From a question to an answer: passages that were found, and either their own sentences or a language model that the reader set up.

import { wasmSource } from './host.js';

/** How many hits a question is judged by. */
const HITS = 10;
/** Most sentences whose meaning is compared with their passages: each costs a run of the model. */
const DOUBTS = 8;
/** How long nothing may come from a language model before it has said anything, and after that. Milliseconds. */
const SILENCE = { before: 120_000, after: 45_000 };
/** How long to wait before each further attempt of a request that failed before anything was shown. Milliseconds. */
const RETRIES = [1000, 3000];

/**
 * @typedef {import('../runtime/kb_answer.js').Passage} Passage
 * @typedef {import('../runtime/kb_answer.js').Segment} Segment
 * @typedef {import('../runtime/kb_answer.js').ChatSettings} ChatSettings
 * @typedef {{ question: string, hits: any[], passages: Passage[], relevance: import('../runtime/kb_answer.js').Relevance, byMeaning: boolean, lookups: string[] }} Found
 */

/** @type {Promise<typeof import('../runtime/kb_answer.js')> | undefined} */
let loading;

/** The module that answers, loaded once and only when an answer is asked for. */
async function runtime() {
  loading ??= (async () => {
    const module = await import('../runtime/kb_answer.js');
    await module.default(await wasmSource(new URL('../runtime/kb_answer_bg.wasm', import.meta.url)));
    return module;
  })();
  loading.catch(() => (loading = undefined));
  return loading;
}

/** @type {import('../runtime/kb_answer.js').Answer | undefined} */
let shared;
/** @type {import('../runtime/kb_answer.js').TemplateChanges | undefined} */
let templates;
async function answer() {
  const { Answer } = await runtime();
  return (shared ??= new Answer(templates));
}

/** Takes over the words that the knowledge base's author put in place of ours. @param {import('./group.js').AnyEngine} engine */
export function useTemplates(engine) {
  if (engine.info?.templates === templates) return;
  templates = engine.info?.templates;
  shared?.free();
  shared = undefined;
}

/** The kinds of service that can be asked, with the addresses they usually have. */
export const providers = async () => (await answer()).providers();

/** A language model. Throws for an address that cannot be one. @param {ChatSettings} settings */
export async function connect(settings) {
  const { Chat } = await runtime();
  return new Chat(settings);
}

/** How many hits a language model may put in order. */
const CANDIDATES = 25;
/** How long each of its calls may take before the search goes on without it. Milliseconds. */
const PATIENCE = 20_000;

/** A language model that prepares the search. @typedef {{ chat: import('../runtime/kb_answer.js').Chat, numCtx: number }} Helper */

/**
 * The passages for a question, and whether they have anything to do with it.
 * @param {import('./group.js').AnyEngine} engine
 * @param {{ text: string, collections: string[], filters: any[] }} question
 * @param {AbortSignal} signal
 * @param {Helper} [helper] reads the question first, and puts what is found in order
 * @returns {Promise<Found>}
 */
export async function findPassages(engine, question, signal, helper) {
  const module = await answer();
  const query = { ...question, k: helper ? CANDIDATES : HITS, mode: 'hybrid' };
  const byMeaning = engine.state.meaning === 'ready';
  const search = async (/** @type {string} */ text) => {
    const ask = () => (byMeaning ? engine.searchMeaning({ ...query, text }, signal) : engine.searchWords({ ...query, text }, signal));
    const response = await ask();
    if (!response.missing.length) return response;
    await engine.loadText(response.missing, signal);
    return ask();
  };
  const response = await search(question.text);
  let { hits } = response;
  /** @type {string[]} */
  let lookups = [];
  if (helper) {
    const reply = await say(helper.chat, module.reading(question.text), signal);
    lookups = module.lookups(reply, question.text);
    const others = await Promise.all(lookups.map(search));
    hits = merged(module, [hits, ...others.map((other) => other.hits)]);
  }
  hits = hits.slice(0, helper ? CANDIDATES : module.maxPassages);
  /** @type {Passage[]} */
  let passages = await Promise.all(hits.map(async (hit) => {
    const entry = engine.info.documents.find(({ collection, path, site }) => collection === hit.collection && path === hit.path && site === hit.site);
    const { text, passage } = await engine.document(entry.index, hit.chunkId);
    const { chunkId, collection, path, title, headingPath, anchor } = hit;
    return { chunkId, collection, path, title, headingPath, anchor, text: passage ? text.slice(passage.start, passage.end).trim() : hit.excerpt.text };
  }));
  if (helper && passages.length > 1) {
    const reply = await say(helper.chat, module.ranking(question.text, passages, helper.numCtx), signal);
    const order = [...(module.order(reply, passages.length) ?? passages.keys())];
    [hits, passages] = [order.map((i) => hits[i]), order.map((i) => passages[i])];
  }
  [hits, passages] = [hits.slice(0, module.maxPassages), passages.slice(0, module.maxPassages)];
  const near = byMeaning ? (await engine.searchMeaning({ ...query, k: HITS }, signal, true)).hits.filter(({ vectorScore }) => vectorScore !== undefined) : [];
  let strange = false;
  for (const name of module.names(question.text)) {
    strange ||= (await engine.searchWords({ text: name, k: 1 }, signal)).unknown >= module.strangeFrom;
  }
  const relevance = module.judge(
    question.text, new Float32Array(near.map(({ vectorScore }) => vectorScore)), near.map(({ lang }) => lang),
    response.coverage, response.unknown, strange, passages.length > 0, engine.info.model,
  );
  return { question: question.text, hits, passages: engine.info.answers ? module.within(passages, engine.info.answers) : passages, relevance, byMeaning, lookups };
}

/** What a language model replies; nothing if it fails or takes too long. @param {import('../runtime/kb_answer.js').Chat} chat @param {import('../runtime/kb_answer.js').Message[]} messages @param {AbortSignal} signal */
async function say(chat, messages, signal) {
  const call = new AbortController();
  const stop = () => call.abort();
  const timer = setTimeout(stop, PATIENCE);
  signal.addEventListener('abort', stop, { once: true });
  let text = '';
  try {
    await stream(chat, { messages, passages: [] }, (event) => {
      if (event.kind === 'text') text += event.text;
      if (event.kind === 'restart') text = '';
    }, call.signal);
    return text;
  } catch {
    signal.throwIfAborted();
    return ''; // the search goes on without it
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** Lists of hits in one order. @param {import('../runtime/kb_answer.js').Answer} module @param {any[][]} lists */
function merged(module, lists) {
  /** Each passage once, in the order of its number. @type {Map<string, { n: number, hit: any }>} */
  const known = new Map();
  const numbers = lists.map((list) => list.map((hit) => {
    const key = `${hit.site ?? ''} ${hit.chunkId}`;
    if (!known.has(key)) known.set(key, { n: known.size, hit });
    return known.get(key)?.n ?? 0;
  }));
  const all = [...known.values()];
  return Array.from(module.merged(numbers), (n) => all[n].hit);
}

/** The sentence for a question that the knowledge base has nothing about. @param {string} question */
export const refusal = async (question) => (await answer()).refusal(question);

/**
 * The answer without a language model: the passages' own sentences.
 * @param {import('./group.js').AnyEngine} engine @param {Found} found @param {AbortSignal} signal
 */
export async function extractive(engine, found, signal) {
  const module = await answer();
  /** @type {Float32Array | undefined} */
  let cosines;
  if (found.byMeaning) {
    const sentences = module.candidates(found.question, found.passages);
    cosines = await engine.similarities(found.question, sentences, signal).catch((error) => {
      if (error.name === 'AbortError') throw error;
      return undefined; // the words choose
    });
  }
  const segments = module.extract(found.question, found.passages, cosines);
  // Nothing but code or a table: show what the search would.
  return segments.length ? segments : [
    { kind: /** @type {const} */ ('text'), text: found.hits[0]?.excerpt.text ?? '' }, { kind: /** @type {const} */ ('citation'), n: 1, passage: 0 },
  ];
}

/** What a language model is sent. @param {Found} found @param {number} numCtx the model's window in tokens */
export const prompt = async (found, numCtx) => (await answer()).prompt(found.question, found.passages, numCtx);

/**
 * How far an answer is backed by what it cites: by its words, and where these do not suffice by its meaning.
 * @param {import('./group.js').AnyEngine} engine
 * @param {Segment[]} segments @param {Passage[]} passages @param {string} refused @param {number} relevance @param {AbortSignal} signal
 */
export async function check(engine, segments, passages, refused, relevance, signal) {
  const module = await answer();
  const byMeaning = engine.state.meaning === 'ready' && engine.info.model;
  const cosines = byMeaning ? await meanings(engine, module.doubts(segments, passages, refused), passages, signal) : [];
  return module.check(segments, passages, refused, relevance, new Float32Array(cosines), engine.info.model);
}

/** The cosine of each sentence and its passage: of the passage's own vector, so that only the sentence is embedded. */
async function meanings(engine, doubts, passages, signal) {
  const cosines = [];
  /** @type {Map<string, Map<string, number>>} */
  const near = new Map();
  for (const { sentence, passage } of doubts) {
    if (!near.has(sentence)) {
      if (near.size >= DOUBTS) break;
      const query = { text: sentence, k: 50, mode: 'vector', keepDuplicates: true };
      const found = await engine.searchMeaning(query, signal, true).catch((error) => {
        if (error.name === 'AbortError') throw error;
        return undefined; // the words decide
      });
      if (!found) break;
      near.set(sentence, new Map(found.hits.map(({ chunkId, vectorScore }) => [chunkId, vectorScore ?? 0])));
    }
    cosines.push(near.get(sentence)?.get(passages[passage].chunkId) ?? 0);
  }
  return cosines;
}

/**
 * A follow-up question with what the conversation leaves unsaid put in.
 * @param {import('../runtime/kb_answer.js').Chat} chat @param {import('../runtime/kb_answer.js').Turn[]} history @param {string} question @param {AbortSignal} signal
 */
export async function completeQuestion(chat, history, question, signal) {
  const module = await answer();
  let reply = '';
  await stream(chat, { messages: module.rewrite(history, question), passages: [] }, (event) => {
    if (event.kind === 'text') reply += event.text;
    if (event.kind === 'restart') reply = '';
  }, signal);
  return module.rewritten(reply, question);
}

/**
 * Asks a language model and passes on what it writes. Tried again only while nothing was shown.
 * @param {import('../runtime/kb_answer.js').Chat} chat
 * @param {{ messages: import('../runtime/kb_answer.js').Message[], passages: Passage[] }} request
 * @param {(event: import('../runtime/kb_answer.js').ReplyEvent) => void} onEvent
 * @param {AbortSignal} signal
 */
export async function stream(chat, { messages, passages }, onEvent, signal) {
  for (let attempt = 0; ; attempt += 1) {
    const call = new AbortController();
    const stop = () => call.abort();
    signal.addEventListener('abort', stop, { once: true });
    let [shown, silent] = [false, false];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        silent = true;
        call.abort();
      }, shown ? SILENCE.after : SILENCE.before);
    };
    try {
      signal.throwIfAborted();
      alive();
      return await chat.ask(messages, passages, (event) => {
        if (event.kind !== 'waiting') shown = true;
        alive();
        if (event.kind !== 'waiting' && !signal.aborted) onEvent(event);
      }, call.signal);
    } catch (error) {
      if (signal.aborted) throw new DOMException('given up by the reader', 'AbortError');
      if (silent) throw Object.assign(new Error('nothing has come for too long'), { code: 'llm::stalled' });
      if (!error.mayPass || shown || attempt >= RETRIES.length) throw error;
      await pause(RETRIES[attempt], signal);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }
}

const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve(undefined);
  }, { once: true });
});
