// Narrowing down, further passages, questions of before, tabs, copying, less motion.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { answered, ask, hits, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { serve, siteOf } from './support/site.mjs';

const files = {
  'course/trees.md': [
    '# Trees', '', 'A tree is a graph without a cycle; a forest is a graph whose parts are trees, each of them with one edge less than it has vertices.', '',
    '## Spanning trees', '', 'A spanning tree of a graph reaches every vertex, and every connected graph has at least one of them; the cheapest one is found greedily.', '',
    '## Search trees', '', 'A search tree keeps smaller keys to the left and larger ones to the right, so that a tree of a million keys is searched in twenty steps.', '',
    '```python', 'def depth(tree):', '    return 0 if tree is None else 1 + max(depth(tree.left), depth(tree.right))', '```', '',
  ].join('\n'),
  'course/woods.md': '---\ntags: [nature, 树]\n---\n# Woods\n\nA wood has many a tree in it, and who walks through it in the evening hears the owls before they are seen.\n',
  '笔记.md': '---\ntags: 树\n---\n# 树\n\n树 (tree) 是没有环的连通图；森林里的每一个连通块都是一棵树，边数比点数少一，任意两点之间只有一条路径。\n',
};

let browser;
let built;
let server;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let page;

before(async () => {
  browser = await launch();
  built = await siteOf(files, ['--no-model']);
  server = await serve(built.site);
});
afterEach(async () => {
  await page?.context().close();
});
after(async () => {
  await browser?.close();
  await server?.close();
  await built?.remove();
});

const open = async (address = '', options = {}) => {
  page = await openPage(browser, options);
  await page.goto(server.url + address);
  await waitFor(page, 'words', 'ready');
};

test('a language narrows down, and pressed again does so no more', async () => {
  await open('?q=tree');
  await answered(page, 'tree', 'words');
  const all = (await hits(page)).map(({ path }) => path);
  assert.ok(all.includes('笔记.md') && all.includes('course/trees.md'));
  const chinese = page.getByRole('button', { name: 'Chinese' });
  await chinese.click();
  await page.waitForFunction(() => [...document.querySelectorAll('.hit-file')].every((file) => file.textContent === '笔记.md'));
  assert.equal(await chinese.getAttribute('aria-pressed'), 'true');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Chinese', 'the focus stays');
  await page.keyboard.press('Enter');
  await page.waitForFunction((count) => document.querySelectorAll('.hit').length === count, all.length);
  await page.fill('#q', '');
  await page.getByRole('button', { name: 'Chinese' }).click();
  await ask(page, 'owls', 'words').catch(() => {});
  await page.getByRole('button', { name: 'Search everything' }).click();
  await page.locator('.hit').first().waitFor();
  assert.equal((await hits(page))[0].path, 'course/woods.md');
  assert.deepEqual(page.problems, []);
});

test('tags are offered with their counts, and one narrows down', async () => {
  await open('?q=tree');
  await answered(page, 'tree', 'words');
  const all = (await hits(page)).length;
  assert.deepEqual(await page.locator('[data-tag]').allTextContents(), ['树 2', 'nature 1']);
  await page.click('[data-tag="nature"]');
  await page.waitForFunction(() => [...document.querySelectorAll('.hit-file')].every((file) => file.textContent === 'course/woods.md'));
  assert.equal(await page.locator('[data-tag="nature"]').getAttribute('aria-pressed'), 'true');
  // With a language it must hold as well.
  await page.getByRole('button', { name: 'Chinese' }).click();
  await page.getByRole('button', { name: 'Search everything' }).click();
  await page.waitForFunction((count) => document.querySelectorAll('.hit').length === count, all);
  assert.equal(await page.locator('[data-tag][aria-pressed="true"], [data-lang][aria-pressed="true"]').count(), 0);
  assert.deepEqual(page.problems, []);
});

test('further passages of a document stand under it', async () => {
  await open('?q=tree');
  await answered(page, 'tree', 'words');
  const found = await hits(page);
  const places = found.map(({ path, under }) => ({ path, under }));
  // Each document once, in one place, and everything else of it right behind.
  const heads = places.filter(({ under }) => !under).map(({ path }) => path);
  assert.equal(new Set(heads).size, heads.length);
  let current = '';
  for (const { path, under } of places) {
    if (under) assert.equal(path, current);
    else current = path;
  }
  assert.ok(found.filter(({ under }) => under).length >= 2, JSON.stringify(places));
  const lefts = await page.locator('.hit-title').evaluateAll((titles) => titles.map((title) => title.getBoundingClientRect().left));
  found.forEach(({ under }, i) => assert.equal(lefts[i] > lefts[0], under));
  assert.deepEqual(page.problems, []);
});

test('questions of before are offered again, kept here only, and cleared', async () => {
  await open();
  assert.equal(await page.locator('[data-recent]').isVisible(), false);
  await ask(page, 'owls', 'words');
  await page.keyboard.press('Enter');
  await ask(page, 'spanning', 'words');
  await page.click('.hit-title a');
  await page.locator('.prose').waitFor();
  await ask2('never opened');
  await page.goto(server.url);
  await waitFor(page, 'words', 'ready');
  assert.deepEqual(await page.locator('[data-recent] a').allTextContents(), ['spanning', 'owls']);
  await page.locator('[data-recent] a', { hasText: 'owls' }).click();
  await answered(page, 'owls', 'words');
  assert.equal(await page.inputValue('#q'), 'owls');
  await page.locator('.brand').click();
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  assert.equal(await page.locator('[data-recent]').isVisible(), false);
  assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.endsWith(':recent')).length), 0);
  assert.deepEqual(page.problems, []);
});
const ask2 = async (text) => {
  await page.keyboard.press('/');
  await page.fill('#q', text);
  await page.waitForTimeout(200);
};

test('Ctrl+Enter opens a tab: the first result from the box, any from the list', async () => {
  await open('?q=tree');
  await answered(page, 'tree', 'words');
  const links = await hits(page);
  for (const [at, keys] of [[0, []], [1, ['ArrowDown', 'ArrowDown']]]) {
    await page.focus('#q');
    for (const key of /** @type {string[]} */ (keys)) await page.keyboard.press(key);
    const [tab] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Control+Enter')]);
    assert.equal(tab.url() === 'about:blank' ? (await tab.waitForURL(/doc=/), tab.url()) : tab.url(), new URL(links[Number(at)].href, server.url).href);
    await tab.close();
  }
  assert.match(page.url(), /\?q=tree$/, 'this tab stays where it is');
  assert.deepEqual(page.problems, []);
});

test('code is copied as it stands', async () => {
  await open('?q=depth', { permissions: ['clipboard-read', 'clipboard-write'] });
  await answered(page, 'depth', 'words');
  await page.click('.hit-title a');
  await page.locator('.code').hover();
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'def depth(tree):\n    return 0 if tree is None else 1 + max(depth(tree.left), depth(tree.right))');
  assert.deepEqual(page.problems, []);
});

test('who asked for less motion gets none', async () => {
  await open('?q=tree', { reducedMotion: 'reduce' });
  await answered(page, 'tree', 'words');
  await page.fill('#q', 'tree graph');
  await answered(page, 'tree graph', 'words');
  const longest = await page.evaluate(() => Math.max(0, ...document.getAnimations().map((animation) => Number(animation.effect?.getComputedTiming().duration ?? 0))));
  assert.ok(longest <= 1, `${longest} ms`);
  assert.deepEqual(page.problems, []);
});

test('the graph is not loaded where it would not be used', async () => {
  await open();
  const asked = await page.evaluate(async () => {
    const { Engine } = await import(`${location.origin}/assets/engine/client.js`);
    const sizes = [];
    for (const chunks of [200_000, 200_001]) {
      const engine = new Engine(new URL('kb/', location.href), { wantsMeaning: false });
      engine.info = { chunks, model: 'm', vectorSections: [{ kind: 'vectors', bytes: 100 }, { kind: 'graph', bytes: 7 }] };
      const fetched = window.fetch;
      window.fetch = async () => new Response('{"files":[{"bytes":1000}]}');
      await engine.useMeaning().catch(() => {});
      window.fetch = fetched;
      sizes.push(engine.state.modelBytes);
      engine.useWordsOnly();
    }
    return sizes;
  });
  assert.deepEqual(asked, [1100, 1107]);
});
