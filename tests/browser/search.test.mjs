// The whole way on the demo: words at once, the model in the background, meaning in Chinese and English.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { answered, ask, hits, statusText, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { demoSite, root, serve } from './support/site.mjs';
import { gate, serveFolder } from './support/static.mjs';

let browser;
let demo;
let server;
/** @type {Awaited<ReturnType<typeof openPage>> | undefined} */
let page;

before(async () => {
  browser = await launch();
  demo = await demoSite();
  server = await serve(demo.site);
});
afterEach(async () => {
  await page?.context().close();
});
after(async () => {
  await browser?.close();
  await server?.close();
  await demo?.remove();
});

test('words answer while the model is still on its way, and meaning takes over in place', async () => {
  const model = gate();
  const slow = await serveFolder(demo.site, { change: (path) => (path === 'model/model.onnx' ? model.opened : undefined) });
  page = await openPage(browser);
  await page.goto(slow.url);
  await waitFor(page, 'meaning', 'loading');
  await ask(page, 'undo a commit', 'words');
  const byWords = await hits(page);
  assert.ok(byWords.length > 3);
  assert.ok(byWords.every(({ by }) => by === 'words'));
  assert.ok(byWords[0].marks.some((mark) => /undo|commit/i.test(mark)), `${byWords[0].marks}`);
  assert.match(await statusText(page), /^Searching by words while the model for meaning loads: .* of 30 MB/);

  model.open();
  await answered(page, 'undo a commit', 'meaning');
  assert.equal(await statusText(page), 'Searching by words and by meaning.');
  const byMeaning = await hits(page);
  assert.ok(byMeaning.some(({ by }) => by === 'both'), 'both lists have a part in the result');
  assert.deepEqual(page.problems, []);
  await slow.close();
});

for (const [how, settle, leave] of /** @type {[string, (page: any) => Promise<any>, (page: any) => Promise<any>][]} */ ([
  ['the pointer', (page) => page.hover('.hit:nth-child(2) .hit-title a'), (page) => page.mouse.move(1, 1)],
  ['the focus', (page) => page.focus('.hit:nth-child(2) .hit-title a'), (page) => page.focus('#q')],
])) {
  test(`a better list waits while ${how} is in the one that is shown`, async () => {
    const model = gate();
    const slow = await serveFolder(demo.site, { change: (path) => (path === 'model/model.onnx' ? model.opened : undefined) });
    page = await openPage(browser);
    await page.goto(slow.url);
    await waitFor(page, 'meaning', 'loading');
    const question = 'who is responsible for a line';
    await ask(page, question, 'words');
    const before = await page.locator('.hit-title').allTextContents();
    model.open();
    // A pointer that rests counts for a moment only, so it keeps moving here.
    const moving = setInterval(() => settle(page).catch(() => {}), 300);
    await settle(page);
    await page.locator('.newer').waitFor({ timeout: 60_000 });
    assert.deepEqual(await page.locator('.hit-title').allTextContents(), before);
    clearInterval(moving);
    await page.locator('.newer button').click();
    await answered(page, question, 'meaning');
    assert.notDeepEqual(await page.locator('.hit-title').allTextContents(), before);
    await leave(page);
    assert.equal(await page.locator('.newer').count(), 0);
    assert.deepEqual(page.problems, []);
    await slow.close();
  });
}

// Questions that share no telling word with their passage; some are in the other language.
const questions = JSON.parse(await readFile(join(root, 'docs/demo-questions.json'), 'utf8'));
test(`${questions.length} questions find their passage by meaning, in Chinese, in English and across`, async () => {
  page = await openPage(browser);
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'ready');
  assert.ok(['zh', 'en', 'zh-en', 'en-zh'].every((kind) => questions.some((each) => each.kind === kind)));
  for (const { question, collection, path, within = '' } of questions) {
    await page.fill('#q', '');
    await page.locator('.library').waitFor();
    await page.locator(`[data-scope="${within}"]`).click();
    await ask(page, question);
    const found = await hits(page);
    const right = ({ href }) => href.startsWith(`?doc=${collection}/${path}&`);
    // Further passages of a document stand under it and are no places of their own.
    assert.ok(found.filter(({ under }) => !under).slice(0, 3).some(right), `${question}: ${found.map((hit) => `${hit.path} ${hit.title}`)}`);
    if (within) assert.ok(found.every(({ href }) => href.startsWith(`?doc=${within}/`)));
  }
  assert.deepEqual(page.problems, []);
});

test('a question without a word in common with the text finds it by meaning alone', async () => {
  const question = 'who is responsible for this statement';
  page = await openPage(browser);
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'ready');
  await ask(page, question);
  const found = (await hits(page)).slice(0, 5).find(({ title }) => title === 'Who wrote this line');
  assert.ok(found);
  assert.deepEqual(found.marks.filter((mark) => /responsible|statement/i.test(mark)), []);
  assert.doesNotMatch(found.text, /responsible|statement/i);
  assert.deepEqual(page.problems, []);
});

test('under a sub-path, with every request inside it', async () => {
  const prefix = '/course/kb/';
  const nested = await serveFolder(demo.site, { prefix });
  page = await openPage(browser);
  /** @type {string[]} */
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`${nested.url}?q=branch`);
  await answered(page, 'branch', 'meaning');
  await page.click('.hit-title a');
  await page.locator('.prose .passage').waitFor();
  assert.ok(page.url().startsWith(`${nested.url}?doc=`), page.url());
  assert.ok(requests.length > 10);
  assert.deepEqual(requests.filter((url) => !url.startsWith(nested.url)), []);
  assert.deepEqual(page.problems, []);
  await nested.close();
});

test('the network goes away after the load: search, reading and meaning go on', async () => {
  page = await openPage(browser);
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'ready');
  // The code of the reader view comes with the first document.
  await page.locator('.shelf a').first().click();
  await page.locator('.prose').waitFor();
  await page.context().setOffline(true);
  await page.locator('.reader-back').click();
  await ask(page, 'are huge movies welcome here');
  assert.ok((await hits(page)).slice(0, 3).some(({ path }) => path.endsWith('09-large-and-secret.md')));
  await page.click('.hit-title a');
  await page.locator('.prose .passage').waitFor();
  assert.deepEqual(page.problems, []);
});

test('the second visit takes model and index from the cache', async () => {
  const counting = await serveFolder(demo.site);
  page = await openPage(browser);
  await page.goto(counting.url);
  await waitFor(page, 'meaning', 'ready');
  assert.ok((counting.sent.get('model/model.onnx') ?? 0) > 1e6);
  counting.sent.clear();
  await page.reload();
  await waitFor(page, 'meaning', 'ready');
  const again = [...counting.sent.keys()].filter((path) => path.startsWith('model/model.onnx') || path.endsWith('.kbs'));
  assert.deepEqual(again, []);
  assert.deepEqual(page.problems, []);
  await counting.close();
});

test('the first result by words costs under 500 kB', async () => {
  const model = gate();
  const counting = await serveFolder(demo.site, { change: (path) => (path.startsWith('model/') && path !== 'model/model.json' ? model.opened : undefined) });
  page = await openPage(browser);
  await page.goto(`${counting.url}?q=branch`);
  await answered(page, 'branch', 'words');
  assert.ok((await hits(page))[0].text.length > 20, 'the excerpt is there too');
  // What only the model needs may have begun already: the encoder module and the vectors.
  const needed = [...counting.sent].filter(([path]) => !/^model\/|kb_encoder|vectors-|graph-|encoder-worker/.test(path));
  const total = needed.reduce((sum, [, bytes]) => sum + bytes, 0);
  console.log(`# first result by words: ${total} bytes in ${needed.length} requests`);
  assert.ok(total < 500_000, `${total} bytes: ${needed.map((entry) => entry.join(' ')).join(', ')}`);
  assert.deepEqual(page.problems, []);
  model.open();
  await counting.close();
});

test('where no word is marked, the sentence that is nearest by meaning is', async () => {
  page = await openPage(browser);
  await page.goto(`${server.url}?q=${encodeURIComponent('my upload was declined because a teammate was faster')}`);
  await answered(page, 'my upload was declined because a teammate was faster', 'meaning');
  await page.locator('[data-answer]').waitFor();
  // With its text a result has its height.
  await page.waitForFunction(() => (document.querySelector('.hit-text')?.textContent ?? '').length > 20);
  await page.waitForTimeout(300);
  const size = async () => {
    const box = await page.locator('.hit').first().boundingBox();
    return [box?.width, box?.height];
  };
  const before = await size();
  const mark = page.locator('.hit-text .mark-near').first();
  await mark.waitFor({ timeout: 30_000 });
  const [sentence, whole] = [await mark.textContent(), await page.locator('.hit-text:has(.mark-near)').first().textContent()];
  assert.ok(whole?.includes(sentence ?? '?') && sentence !== whole, `${sentence} in ${whole}`);
  assert.deepEqual(await size(), before, 'nothing moves');
  assert.deepEqual(page.problems, []);
});

test('words only is a choice that is kept', async () => {
  const counting = await serveFolder(demo.site);
  page = await openPage(browser);
  await page.goto(`${counting.url}?q=branch`);
  await answered(page, 'branch', 'meaning');
  await page.getByRole('button', { name: 'Words only' }).click();
  await answered(page, 'branch', 'words');
  assert.equal(await statusText(page), 'Searching by words only, as you chose.');
  counting.sent.clear();
  await page.reload();
  await waitFor(page, 'meaning', 'off');
  await answered(page, 'branch', 'words');
  assert.equal(counting.sent.get('assets/runtime/kb_encoder_bg.wasm'), undefined);
  await page.getByRole('button', { name: /Search by meaning too/ }).click();
  await answered(page, 'branch', 'meaning');
  assert.deepEqual(page.problems, []);
  await counting.close();
});

test('a reader who asks to save data is not sent the model', async () => {
  page = await openPage(browser);
  await page.addInitScript(() => Object.defineProperty(navigator, 'connection', { value: { saveData: true } }));
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'off');
  assert.match(await statusText(page), /your browser asks to save data, and the model for meaning is 30 MB/);
  await page.getByRole('button', { name: /Search by meaning too \(30 MB\)/ }).click();
  await waitFor(page, 'meaning', 'ready');
  assert.deepEqual(page.problems, []);
});
