// What the reader is told when something is broken, and what still works.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { answered, ask, hits, statusText, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { demoSite } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

let browser;
let demo;
let server;
/** @type {Awaited<ReturnType<typeof openPage>> | undefined} */
let page;

before(async () => {
  browser = await launch();
  demo = await demoSite();
});
afterEach(async () => {
  await page?.context().close();
  await server?.close();
});
after(async () => {
  await browser?.close();
  await demo?.remove();
});

/** One bit in the middle is another. @param {Buffer} bytes */
const damaged = (bytes) => {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1] ^= 4;
  return copy;
};
const notice = () => page.locator('.notice-problem').innerText();
/** Chromium itself writes a line for every reply that is not 2xx. */
const browserSaid404 = (problems) => problems.filter((text) => !/Failed to load resource: the server responded with a status of (404|503)/.test(text));

for (const kind of ['lexical', 'docs', 'chunks']) {
  test(`a damaged section ${kind} is named, with what to do`, async () => {
    server = await serveFolder(demo.site, { change: (path, bytes) => (path.startsWith(`kb/${kind}-`) ? damaged(bytes) : undefined) });
    page = await openPage(browser);
    await page.goto(`${server.url}?q=branch`);
    await page.locator('.notice-problem').waitFor();
    const text = await notice();
    assert.match(text, /A file of the knowledge base is damaged\. Reload the page/);
    assert.match(text, new RegExp(`kb::corrupt: .*${kind}-`));
    assert.equal(await page.locator('.hit').count(), 0);
    assert.deepEqual(page.problems, []);
  });
}

test('damaged vectors cost the meaning, not the words', async () => {
  let broken = true;
  server = await serveFolder(demo.site, { change: (path, bytes) => (broken && path.startsWith('kb/vectors-') ? damaged(bytes) : undefined) });
  page = await openPage(browser);
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'failed');
  assert.match(await statusText(page), /^Searching by words only\. A file of the knowledge base is damaged\./);
  await ask(page, 'branch', 'words');
  assert.ok((await hits(page)).length > 0);
  broken = false;
  await page.context().clearCookies();
  await page.route('**/kb/vectors-*', (route) => route.continue());
  await page.getByRole('button', { name: 'Try again' }).click();
  await answered(page, 'branch', 'meaning');
  assert.deepEqual(page.problems, []);
});

test('a section that the server lost', async () => {
  server = await serveFolder(demo.site, { change: (path) => (path.startsWith('kb/lexical-') ? 404 : undefined) });
  page = await openPage(browser, { locale: 'zh-CN' });
  await page.goto(`${server.url}?q=branch`);
  await page.locator('.notice-problem').waitFor();
  assert.match(await notice(), /知识库缺少一个文件。请网站所有者上传完整的输出文件夹。/);
  assert.deepEqual(browserSaid404(page.problems), []);
});

test('no knowledge base at all, then one', async () => {
  let there = false;
  server = await serveFolder(demo.site, { change: (path) => (!there && path === 'kb/manifest.json' ? 503 : undefined) });
  page = await openPage(browser);
  await page.goto(`${server.url}?q=branch`);
  await page.locator('.notice-problem').waitFor();
  assert.match(await notice(), /The server refused a file\. Try again in a moment\./);
  there = true;
  await page.locator('.notice-problem').getByRole('button', { name: 'Try again' }).click();
  await answered(page, 'branch', 'meaning');
  assert.deepEqual(browserSaid404(page.problems), []);
});

test('a manifest of a newer format, and one that is a web page', async () => {
  let manifest = Buffer.from('{"format": 999}');
  server = await serveFolder(demo.site, { change: (path) => (path === 'kb/manifest.json' ? manifest : undefined) });
  page = await openPage(browser);
  await page.goto(server.url);
  await page.locator('.notice-problem').waitFor();
  assert.match(await notice(), /written by a newer version of kb-builder/);
  manifest = Buffer.from('<!doctype html><title>Not found</title>');
  await page.reload();
  await page.locator('.notice-problem').waitFor();
  assert.match(await notice(), /kb::not_a_bundle/);
  assert.deepEqual(page.problems, []);
});

test('a policy that forbids WebAssembly is named', async () => {
  server = await serveFolder(demo.site, { headers: { 'content-security-policy': "script-src 'self'" } });
  page = await openPage(browser);
  await page.goto(server.url);
  await page.locator('.notice-problem').waitFor();
  assert.match(await notice(), /needs ‘wasm-unsafe-eval’/);
});

test('a search worker that traps is started again and answers', async () => {
  server = await serveFolder(demo.site);
  page = await openPage(browser);
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'ready');
  const worker = page.workers().find((each) => each.url().endsWith('search-worker.js'));
  await worker.evaluate(async () => {
    const { KnowledgeBase } = await import('../runtime/kb_search.js');
    KnowledgeBase.prototype.search = () => {
      throw new WebAssembly.RuntimeError('unreachable');
    };
  });
  await page.fill('#q', 'branch');
  await answered(page, 'branch', 'meaning');
  assert.match(await statusText(page), /The search engine stopped and was started again\./);
  assert.ok((await hits(page)).length > 0);
  assert.deepEqual(page.problems, []);
});

test('a model that traps leaves the words, and comes back', async () => {
  server = await serveFolder(demo.site);
  page = await openPage(browser);
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'ready');
  const worker = page.workers().find((each) => each.url().endsWith('encoder-worker.js'));
  await worker.evaluate(async () => {
    const { Encoder } = await import('../runtime/kb_encoder.js');
    Encoder.prototype.candidates = () => {
      throw new WebAssembly.RuntimeError('memory access out of bounds');
    };
  });
  await ask(page, 'branch', 'words');
  assert.ok((await hits(page)).length > 0);
  await answered(page, 'branch', 'meaning');
  assert.deepEqual(page.problems, []);
});
