// How long questions to a large base take in Chromium, without embedding them: words, and words with meaning.
//
//     node large.mjs --base DIR [--rounds 3] [--chromium PATH]
//
// DIR is what `cargo run --release -p kb-builder --example large_base -- SIZE DIR` wrote. The modules are those of
// prebuilt/runtime, called from the page itself. Prints one JSON object: milliseconds, and bytes of memory.

import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { serveFolder } from '../../browser/support/static.mjs';

const { values } = parseArgs({ options: {
  base: { type: 'string' }, rounds: { type: 'string', default: '3' }, chromium: { type: 'string', default: process.env.CHROME ?? '/usr/bin/chromium' },
} });
if (!values.base) throw new Error('--base is missing');

// Isolation gives finer timers.
const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp', 'Cross-Origin-Resource-Policy': 'cross-origin', 'Access-Control-Allow-Origin': '*' };
const runtime = await serveFolder(join(dirname(fileURLToPath(import.meta.url)), '../../../prebuilt/runtime'), { headers, extra: { 'index.html': '<!doctype html><title>large</title>' } });
const base = await serveFolder(resolve(values.base), { headers });
const browser = await chromium.launch({ executablePath: values.chromium, args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] });
try {
  const page = await browser.newPage();
  await page.goto(`${runtime.url}index.html`);
  const report = await page.evaluate(measure, { base: base.url, rounds: Number(values.rounds) });
  process.stdout.write(`${JSON.stringify(report, null, 1)}\n`);
} finally {
  await browser.close();
  await Promise.all([runtime.close(), base.close()]);
}

/** In the page. @param {{ base: string, rounds: number }} options */
async function measure({ base, rounds }) {
  const load = (name) => import(new URL(name, location.href).href);
  const bytes = (name) => fetch(new URL(name, base)).then((response) => response.arrayBuffer()).then((buffer) => new Uint8Array(buffer));
  const [words, meaning] = await Promise.all([load('kb_search.js'), load('kb_encoder.js')]);
  const memories = [await words.default(), await meaning.default()];
  const manifest = await bytes('manifest.json');
  const asked = JSON.parse(new TextDecoder().decode(await bytes('questions.json')));
  const search = new words.KnowledgeBase(manifest);
  const encoder = new meaning.Encoder(manifest);
  const opening = { words: 0, meaning: 0 };
  for (const { kind, file } of JSON.parse(new TextDecoder().decode(manifest)).sections) {
    const payload = await bytes(file);
    const ofMeaning = kind === 'vectors' || kind === 'graph';
    const begun = performance.now();
    (ofMeaning ? encoder : search).addSection(file, payload);
    opening[ofMeaning ? 'meaning' : 'words'] += performance.now() - begun;
  }
  const begun = performance.now();
  search.finish();
  opening.words += performance.now() - begun;
  const vectors = asked.map(({ vector }) => Float32Array.from(vector));
  const ask = {
    words: ({ text }) => search.search({ text, mode: 'lexical' }),
    words_and_meaning: ({ text }, i) => {
      const query = { text, mode: 'hybrid' };
      encoder.know(text, vectors[i]);
      const near = encoder.candidates(text, search.candidateCount(query));
      return search.search(query, near.ids, near.scores);
    },
  };
  const report = {};
  for (const [name, answer] of Object.entries(ask)) {
    let unanswered = 0;
    const times = asked.map((question, i) => {
      let best = Infinity;
      for (let round = 0; round < rounds; round++) {
        const begun = performance.now();
        const found = answer(question, i);
        best = Math.min(best, performance.now() - begun);
        // A word may stand nowhere; most do.
        unanswered += found.hits.length ? 0 : 1 / rounds;
      }
      return best;
    }).sort((a, b) => a - b);
    const at = (share) => Math.round(times[Math.floor(times.length * share)] * 100) / 100;
    report[name] = { median_ms: at(0.5), p95_ms: at(0.95), unanswered: Math.round(unanswered) };
  }
  return { ...report, opening_ms: { words: Math.round(opening.words), meaning: Math.round(opening.meaning) }, memory_bytes: memories.map(({ memory }) => memory.buffer.byteLength) };
}
