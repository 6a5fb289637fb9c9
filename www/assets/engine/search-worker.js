// The worker that searches by words and hands out documents.

import init, { KnowledgeBase } from '../runtime/kb_search.js';
import { download, keep, meter, openCache, prune } from './download.js';
import { expectEarly, giveEarly, request, wasmSource } from './host.js';
import { serve } from './rpc.js';

/** Text up to this size comes right behind the index, so that the first results need no further request. Bytes. */
const EAGER_TEXT = 600_000;
/** The first results wait this long for their text, and are shown without where the network is slower. Milliseconds. */
const TEXT_PATIENCE = 80;
/** Where the index took longer than this, the text will not be there in time either. Milliseconds. */
const FAST = 600;

/** How long the rest of a knowledge base waits before it looks again whether a search is running. Milliseconds. */
const QUIET = 250;

/** @param {number} ms */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** How many searches are running. */
let searching = 0;
/** @type {KnowledgeBase} */
let kb;
/** @type {URL} */
let folder;
/** @type {Cache | undefined} */
let cache;
/** @type {WebAssembly.Memory | undefined} */
let memory;
/** Parts of the text that have come or are on their way. @type {Map<string, Promise<void>>} */
const parts = new Map();

const { emit } = serve({
  /** @param {string} href folder of manifest.json @param {string[]} [coming] what the page has asked for already */
  async open(href, coming = []) {
    expectEarly(coming);
    folder = new URL(href);
    const starting = wasmSource(new URL('../runtime/kb_search_bg.wasm', import.meta.url)).then((source) => init(source));
    starting.catch(() => {}); // awaited below
    const [manifest] = await Promise.all([fetchManifest('no-cache'), openCache(new URL('../', folder)).then((found) => (cache = found))]);
    memory = (await starting).memory;
    try {
      return await load(manifest);
    } catch (error) {
      // The site was published anew between the two requests: its manifest names other files by now.
      if (error.code !== 'kb::missing') throw error;
      const newer = await fetchManifest('reload');
      if (same(newer, manifest)) throw error;
      return load(newer);
    }
  },
  /** One of those has come. @param {string} href @param {import('./host.js').Early} [bytes] */
  early: (href, bytes) => giveEarly(href, bytes),
  /** Asks again as long as parts of the index that the question needs have not come. */
  async search(query, candidates) {
    searching += 1;
    try {
      for (;;) {
        const response = kb.search(query, candidates?.ids, candidates?.scores);
        const wanted = kb.wantedTerms();
        if (!wanted.length) return response;
        const terms = kb.sections().filter(({ kind }) => kind === 'terms');
        await Promise.all(Array.from(wanted, (part) => loadPart(terms[part].file)));
      }
    } finally {
      searching -= 1;
    }
  },
  /** What the encoder is to look for: how many passages, and which ones at all. */
  candidates: (query) => ({ k: kb.candidateCount(query), allowed: kb.allowed(query) }),
  /** Whether a query's collections and filters admit any passage at all. */
  holds: (query) => kb.allowed(query)?.some((byte) => byte !== 0) ?? true,
  async loadText(files) {
    await Promise.all(files.map((file) => loadPart(file)));
  },
  /** Everything that excerpts and the reader view need, if it is at most `limit` bytes in all. @param {number} limit */
  async loadAllText(limit) {
    const sections = kb.sections();
    const [terms, text] = ['terms', 'text'].map((wanted) => sections.filter(({ kind }) => kind === wanted));
    const small = text.reduce((sum, { bytes }) => sum + bytes, 0) <= limit;
    // In the background, outside the queue: searches are answered between the parts.
    (async () => {
      await wait(QUIET);
      for (const { file } of small ? [...terms, ...text] : terms) {
        // What somebody waits for goes before.
        while (searching) await wait(QUIET);
        await loadPart(file, 'low');
      }
    })().catch(() => {}); // a part that is needed is asked for again, and its failure shown then
  },
  /** @param {number} index @param {string} chunkId a passage to point out, or '' */
  async document(index, chunkId) {
    await loadPart(kb.missingText(index));
    return { ...kb.document(index), passage: chunkId ? kb.passage(index, chunkId) : undefined };
  },
  memory: () => memory?.buffer.byteLength ?? 0,
});

/** @param {RequestCache} mode */
async function fetchManifest(mode) {
  const response = await request(new URL('manifest.json', folder), { cache: mode });
  return new Uint8Array(await response.arrayBuffer());
}

/** @param {Uint8Array} manifest */
async function load(manifest) {
  kb?.free();
  parts.clear();
  kb = new KnowledgeBase(manifest);
  const sections = kb.sections();
  const text = sections.filter(({ kind }) => kind === 'text');
  const eager = text.reduce((sum, { bytes }) => sum + bytes, 0) <= EAGER_TEXT;
  const wanted = sections.filter(({ kind }) => ['docs', 'chunks', 'lexical'].includes(kind));
  const onProgress = meter(wanted.reduce((sum, { bytes }) => sum + bytes, 0), (state) => emit('progress', state));
  const begun = performance.now();
  const files = await Promise.all(wanted.map(async (section) => ({ section, bytes: await download(folder, section, { cache, onProgress }) })));
  for (const { section, bytes } of files) kb.addSection(section.file, bytes);
  kb.finish();
  if (eager) {
    const coming = Promise.all(text.map(({ file }) => loadPart(file))).catch(() => {}); // asked for again when it is needed
    if (performance.now() - begun < FAST) await Promise.race([coming, wait(TEXT_PATIENCE)]);
  }
  prune(cache, folder, sections);
  keep(cache, new URL('manifest.json', folder), manifest);
  return { info: kb.info(), manifest };
}

/** Adds a part of the text or of the index, once. @param {string | undefined} file nothing if it is there already @param {RequestPriority} [priority] */
async function loadPart(file, priority) {
  const section = kb.sections().find((known) => known.file === file);
  if (!section) return;
  let loading = parts.get(section.file);
  if (!loading) {
    loading = download(folder, section, { cache, priority }).then((bytes) => kb.addSection(section.file, bytes));
    parts.set(section.file, loading);
    loading.catch(() => parts.delete(section.file));
  }
  await loading;
}

const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
