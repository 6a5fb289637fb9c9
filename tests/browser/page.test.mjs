// The page under the reader's hands: keyboard, input methods, addresses, reading, language, hostile documents.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { answered, ask, hits, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { serve, siteOf } from './support/site.mjs';

// Sections are long enough to be passages of their own.
const files = {
  'graphs/shortest.md': [
    '# Shortest paths', '', 'How to get from one vertex to another with the least total weight, and which of the known methods fits which kind of graph.', '',
    '## Dijkstra', '', 'Dijkstra relaxes the nearest vertex first, which needs a queue that always gives the smallest key. See [heaps](../heaps.md#binary-heap) and [the web](https://example.org/).', '',
    '## 最短路 😀', '', '在有向图😀里找两点之间的最短路，可以用 Dijkstra 算法，边权不能是负数。先把起点的距离记为零，其余各点记为无穷大；每一步取出距离最小的点，用它的出边去更新邻居的距离，直到所有的点都取完为止。如果有负的边权，就要换成别的方法，比如一轮一轮地更新每一条边。', '',
    '## Bellman-Ford', '', ...Array.from({ length: 40 }, (_, i) => `Paragraph ${i} about relaxing every edge once more.\n`),
  ].join('\n'),
  'heaps.md': [
    '# Heaps', '', 'A heap keeps the smallest key on top. It is the usual queue of algorithms that have to take the nearest thing next, again and again.', '',
    '## Binary heap', '', 'A binary heap is an array in which every entry is at most as large as its two children; the priority of a vertex lives in it and may sink.', '',
  ].join('\n'),
  'hostile.md': [
    '# Hostile <img src=x onerror="window.hacked=1">', '',
    'Needle <script>window.hacked=2</script> <img src=x onerror="window.hacked=3"> [click](javascript:window.hacked=4) needle.', '',
    '## "><svg onload="window.hacked=5">', '', 'Another needle in a heading with markup.', '',
  ].join('\n'),
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
const focused = () => page.evaluate(() => document.activeElement?.closest('.hit-title a')?.textContent ?? document.activeElement?.id);

test('keyboard: / into the box, arrows through the list, Enter opens, back returns to the same result', async () => {
  await open();
  await page.locator('body').click({ position: { x: 5, y: 500 } });
  await page.keyboard.press('/');
  assert.equal(await focused(), 'q');
  await page.keyboard.type('vertex');
  await answered(page, 'vertex', 'words');
  const titles = (await hits(page)).map(({ title }) => title);
  assert.ok(titles.length >= 3);
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), titles[0]);
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), titles[1]);
  await page.keyboard.press('End');
  assert.equal(await focused(), titles.at(-1));
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowUp');
  assert.equal(await focused(), 'q');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('.prose .passage').waitFor();
  assert.match(page.url(), /\?doc=.*&q=vertex#/);
  await page.goBack();
  await page.locator('.hit').first().waitFor();
  assert.equal(await focused(), titles[1]);
  await page.keyboard.press('Enter');
  await page.locator('.prose .passage').waitFor();
  await page.keyboard.press('/');
  assert.equal(await focused(), 'q');
  assert.equal(await page.inputValue('#q'), 'vertex');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  assert.equal(await focused(), 'q');
  await page.keyboard.press('Escape');
  assert.equal(await page.inputValue('#q'), '');
  await page.locator('.library').waitFor();
  assert.deepEqual(page.problems, []);
});

test('a slash inside the box is a slash', async () => {
  await open();
  await page.fill('#q', 'a');
  await page.keyboard.press('/');
  assert.equal(await page.inputValue('#q'), 'a/');
});

test('an input method is left alone until it commits', async () => {
  await open();
  await page.focus('#q');
  const session = await page.context().newCDPSession(page);
  for (const text of ['z', 'zui', 'zuiduanlu']) {
    await session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
    await page.waitForTimeout(150);
  }
  assert.equal(await page.inputValue('#q'), 'zuiduanlu', 'the composition is in the box');
  assert.equal(new URL(page.url()).search, '', 'and was not asked');
  assert.equal(await page.locator('[data-results]').isVisible(), false);
  await session.send('Input.insertText', { text: '最短路' });
  await answered(page, '最短路', 'words');
  const [first] = await hits(page);
  assert.equal(first.title, '最短路 😀');
  assert.deepEqual(page.problems, []);
});

test('marks are right behind an emoji', async () => {
  await open();
  await ask(page, '最短路', 'words');
  const [first] = await hits(page);
  assert.match(first.text, /在有向图😀里/);
  assert.ok(first.marks.includes('最短路'), `${first.marks}`);
  assert.deepEqual(page.problems, []);
});

test('addresses: a shared question, the back button, a shared passage', async () => {
  await open('?q=heap');
  await answered(page, 'heap', 'words');
  assert.equal(await page.inputValue('#q'), 'heap');
  assert.equal(await page.title(), `heap · ${await page.locator('.brand-name').textContent()}`);
  const { href } = (await hits(page))[0];
  await page.locator('.brand').click();
  await page.locator('.library').waitFor();
  await page.goBack();
  await answered(page, 'heap', 'words');
  assert.equal(await page.inputValue('#q'), 'heap');
  // The same passage, opened by somebody else.
  await page.goto(server.url + href);
  await page.locator('.prose .passage').waitFor();
  assert.match(await page.locator('.prose .passage').innerText(), /heap/i);
  const box = await page.locator('.prose .passage').boundingBox();
  assert.ok(box && box.y >= 0 && box.y < 860, 'the passage is in sight');
  assert.deepEqual(page.problems, []);
});

test('reading: contents, links to other documents, links out, a heading by its anchor', async () => {
  await open('?q=Dijkstra relaxes');
  await page.locator('.hit-title a', { hasText: 'Dijkstra' }).first().click();
  await page.locator('.prose .passage').waitFor();
  assert.deepEqual(await page.locator('.toc a').allTextContents(), ['Dijkstra', '最短路 😀', 'Bellman-Ford']);
  const outside = page.locator('.prose a', { hasText: 'the web' });
  assert.equal(await outside.getAttribute('href'), 'https://example.org/');
  assert.equal(await outside.getAttribute('rel'), 'noopener noreferrer');
  await page.locator('.toc a', { hasText: 'Bellman-Ford' }).click();
  await page.waitForFunction(() => {
    const heading = [...document.querySelectorAll('.prose h2')].find((each) => each.textContent === 'Bellman-Ford');
    return heading && heading.getBoundingClientRect().top < innerHeight / 2;
  });
  await page.locator('.prose a', { hasText: 'heaps' }).click();
  await page.locator('h1', { hasText: 'Heaps' }).last().waitFor();
  assert.match(page.url(), /\?doc=[^&]*heaps\.md&q=.*#binary-heap$/);
  assert.deepEqual(page.problems, []);
});

test('a document that is not there', async () => {
  await open('?doc=nowhere/at-all.md');
  await page.getByText('This document is not in the knowledge base.').waitFor();
  await page.locator('.reader-back').click();
  await page.locator('.library').waitFor();
  assert.deepEqual(page.problems, []);
});

test('hostile documents stay text, in results, contents and reader', async () => {
  await open();
  await ask(page, 'needle', 'words');
  const found = await hits(page);
  assert.ok(found.length >= 2);
  assert.equal(await page.locator('.results img, .results script, .results svg:not(.icon)').count(), 0);
  await page.click('.hit-title a');
  await page.locator('.prose .passage').waitFor();
  assert.match(await page.locator('.prose').innerText(), /<script>window\.hacked=2<\/script>/);
  assert.equal(await page.locator('.reader img, .reader script, .reader svg:not(.icon), .reader [onerror], .reader [onload]').count(), 0);
  assert.equal(await page.locator('.reader a[href^="javascript"]').count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(page.problems, []);
});

test('a hostile question stays text', async () => {
  const question = '<img src=x onerror="window.hacked=1">';
  await open(`?q=${encodeURIComponent(question)}`);
  await page.locator('.hit, .notice').first().waitFor();
  assert.equal(await page.inputValue('#q'), question);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(page.problems, []);
});

test('Chinese for a Chinese browser, and a switch that is kept', async () => {
  await open('', { locale: 'zh-CN' });
  assert.equal(await page.getAttribute('html', 'lang'), 'zh-Hans');
  assert.equal(await page.getAttribute('#q', 'placeholder'), '提一个问题，或输入几个词');
  await page.locator('[data-language]').click();
  assert.equal(await page.getAttribute('html', 'lang'), 'en');
  await page.reload();
  await waitFor(page, 'words', 'ready');
  assert.equal(await page.getAttribute('#q', 'placeholder'), 'Ask, or type a few words');
  assert.deepEqual(page.problems, []);
});

test('dark by the system, light by choice, kept without a flash', async () => {
  await open('', { colorScheme: 'dark' });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await paper(), 'rgb(23, 22, 20)');
  await page.locator('[data-theme]').click();
  assert.equal(await paper(), 'rgb(250, 248, 244)');
  await page.reload({ waitUntil: 'commit' });
  // Nothing is painted before the styles are there; the first colour after that is the chosen one.
  await page.waitForFunction(() => document.body && getComputedStyle(document.body).backgroundColor !== 'rgba(0, 0, 0, 0)', undefined, { polling: 'raf' });
  assert.equal(await paper(), 'rgb(250, 248, 244)');
  // A kept choice stays until its button is pressed, and the button says what is chosen.
  await waitFor(page, 'words', 'ready');
  await page.locator('.foot').click();
  assert.equal(await paper(), 'rgb(250, 248, 244)');
  assert.match(await page.locator('button[data-theme]').getAttribute('title') ?? '', /light/i);
  await page.locator('button[data-theme]').click();
  assert.equal(await paper(), 'rgb(23, 22, 20)');
  assert.deepEqual(page.problems, []);
});

test('without a model it says so and searches by words', async () => {
  await open('?q=heap');
  await waitFor(page, 'meaning', 'off');
  assert.equal(await page.locator('[data-status-text]').textContent(), 'Searching by words only: this knowledge base was built without a model.');
  assert.deepEqual(page.problems, []);
});

test('nothing found says what to do', async () => {
  await open('?q=xylophone');
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
  assert.deepEqual(page.problems, []);
});

test('360 pixels wide: nothing is cut off and targets are large enough', async () => {
  await open('?q=vertex', { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  await answered(page, 'vertex', 'words');
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  await page.click('.hit-title a');
  await page.locator('.prose').waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  const small = await page.locator('button:visible').evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).filter(({ width, height }) => width < 24 || height < 24).length);
  assert.equal(small, 0);
  assert.deepEqual(page.problems, []);
});

test('a reader inside the list keeps it as it is', async () => {
  await open();
  await ask(page, 'vertex', 'words');
  await page.focus('.hit-title a');
  // The same answer again, in another order and by meaning, as when the model gets ready now.
  const order = await page.evaluate(async () => {
    const { resultList } = await import('./assets/components/results.js');
    const { en } = await import('./assets/i18n/en.js');
    const host = document.createElement('section');
    document.querySelector('main').append(host);
    const list = resultList(host, { base: new URL(location.href), onUp() {}, onSearchAll() {}, announce() {} });
    const hit = (chunkId) => ({ chunkId, title: chunkId, headingPath: [], path: chunkId, collection: 'c', anchor: '', lang: 'en', lexicalScore: 1, excerpt: { text: 't', marks: [] } });
    const context = { strings: en, query: { text: 'x', collections: [] }, meaningState: 'ready' };
    const shown = () => [...host.querySelectorAll('.hit-title')].map((title) => title.textContent).join('');
    const seen = [];
    list.show({ hits: ['a', 'b', 'c'].map(hit), meaning: false }, context);
    seen.push(shown());
    host.querySelectorAll('.hit-title a')[1].focus();
    list.show({ hits: ['c', 'b', 'd'].map(hit), meaning: true }, context);
    seen.push(shown(), document.activeElement.textContent);
    host.querySelector('.newer button').click();
    seen.push(shown());
    document.activeElement.blur();
    list.show({ hits: ['a', 'b', 'c'].map(hit), meaning: false }, { ...context, query: { text: 'y', collections: [] } });
    list.show({ hits: ['c', 'b', 'd'].map(hit), meaning: true }, { ...context, query: { text: 'y', collections: [] } });
    seen.push(shown());
    return seen;
  });
  assert.deepEqual(order, ['abc', 'abc', 'b', 'cbd', 'cbd']);
});
