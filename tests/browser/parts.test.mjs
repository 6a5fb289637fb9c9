// A large word index: a search waits for the parts that its words are in, and finds what the whole index finds.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { answered, ask, hits, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { kb, siteOf } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

/** Words that look like words, always the same. */
function words(count) {
  let seed = 42;
  const next = (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
  const syllables = ['ba', 'ker', 'lo', 'mun', 'ti', 'sor', 'va', 'ren', 'qui', 'dol', 'pha', 'gri'];
  return Array.from({ length: count }, () => Array.from({ length: 3 + next(2) }, () => syllables[next(12)]).join(''));
}
const files = {};
const all = words(36_000);
for (let i = 0; i < 120; i += 1) files[`${i}.md`] = `# Document ${i}\n\n${all.slice(i * 300, i * 300 + 300).join(' ')}\n`;
files['zh.md'] = '# 最短路\n\n在有向图里找两点之间的最短路，可以用 Dijkstra 算法。\n';

let browser;
let built;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let page;
/** @type {Awaited<ReturnType<typeof serveFolder>>} */
let server;
/** How many parts were asked for, and how many of them come; the others are held back. */
let [asked, come] = [0, Infinity];
/** What was asked for. @type {string[]} */
let paths = [];

before(async () => {
  browser = await launch();
  built = await siteOf(files, ['--no-model']);
  server = await serveFolder(built.site, { change: async (path) => {
    paths.push(path);
    if (!path.includes('terms-')) return undefined;
    asked += 1;
    const turn = asked;
    while (turn > come) await new Promise((resolve) => setTimeout(resolve, 20));
    return undefined;
  } });
});
afterEach(() => page?.context().close());
after(async () => {
  come = Infinity;
  await browser?.close();
  await server?.close();
  await built?.remove();
});

const count = async () => JSON.parse(await kb('inspect', built.site, '--json')).sections.find(({ kind }) => kind === 'terms').files;
/** What the program finds. */
const native = async (question, ...args) => JSON.parse(await kb('search', built.site, question, '--mode', 'lexical', '--json', '-k', '10', ...args)).hits.map(({ path }) => path);
const shown = async () => (await hits(page)).map(({ path }) => path.split('/').pop());

test('the first question waits for the parts of its words only', async () => {
  const parts = await count();
  assert.ok(parts >= 5, `${parts} parts`);
  [asked, come] = [0, 3];
  page = await openPage(browser);
  const question = `${all[100]} ${all[7000]}`;
  await page.goto(`${server.url}?q=${encodeURIComponent(question)}`);
  await answered(page, question, 'words');
  assert.ok(asked >= 1);
  assert.deepEqual((await shown())[0], (await native(question))[0]);
  come = Infinity;
  // The rest comes when nobody waits, so that searching goes on without a network.
  for (let i = 0; i < 100 && asked < parts; i += 1) await page.waitForTimeout(100);
  assert.equal(asked, parts);
  await page.context().setOffline(true);
  for (const other of [all[20_000], `${all[300].slice(0, -1)}x`, '最', '短路 dijkstra']) {
    await ask(page, other, 'words');
    assert.deepEqual([...new Set(await shown())].sort(), [...new Set(await native(other, '--unfinished'))].sort(), other);
  }
  assert.deepEqual(page.problems, []);
});

test('while the first question waits nothing is asked for that it does not need', async () => {
  [asked, come, paths] = [0, 0, []];
  page = await openPage(browser);
  await page.goto(`${server.url}?q=${all[500]}`);
  await waitFor(page, 'words', 'ready');
  await page.waitForTimeout(900);
  assert.ok(asked >= 1, 'its parts are on their way');
  assert.deepEqual(paths.filter((path) => /answer|reader|offline|theme|embed|katex|sw\.js|model/.test(path)), []);
  assert.deepEqual(paths.filter((path, i) => paths.indexOf(path) !== i && !path.includes('manifest')), [], 'nothing twice');
  come = Infinity;
  await answered(page, all[500], 'words');
  await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.endsWith('styles/answer.css')));
  assert.deepEqual(page.problems, []);
});

test('a question waits for a part that comes late', async () => {
  [asked, come] = [0, 0];
  page = await openPage(browser);
  await page.goto(server.url);
  await waitFor(page, 'words', 'ready');
  await page.fill('#q', all[500]);
  await page.waitForTimeout(500);
  assert.equal((await shown()).includes(`${Math.floor(500 / 300)}.md`), false, 'its part has not come');
  come = Infinity;
  await answered(page, all[500], 'words');
  assert.equal((await shown())[0], (await native(all[500], '--unfinished'))[0]);
});

test('a damaged part is told, and a newer question is not lost for it', async () => {
  const broken = await serveFolder(built.site, { change: (path, bytes) => (path.includes('terms-') ? bytes.subarray(0, bytes.length - 1) : undefined) });
  try {
    page = await openPage(browser);
    await page.goto(`${broken.url}?q=${all[900]}`);
    await page.waitForFunction(() => /damaged/i.test(/** @type {HTMLElement} */ (document.querySelector('[data-results]')).innerText), undefined, { timeout: 20_000 });
  } finally {
    await broken.close();
  }
});
