// Several knowledge bases searched as one, and the elements for an answer, a document, the state and the choices.

import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { launch, openPage } from './support/browser.mjs';
import { kb, root } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

let browser;
let folder;
let server;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let page;

before(async () => {
  browser = await launch();
  folder = await mkdtemp(join(tmpdir(), 'kb-bundles-'));
  // One base a course, built on their own; their collections have the same name on purpose.
  for (const [name, title] of [['git', 'Git'], ['search', '检索']]) {
    await cp(join(root, 'docs', name === 'git' ? 'course-en' : 'course-zh'), join(folder, name, 'course'), { recursive: true });
    await kb('build', join(folder, name, 'course'), '--title', title, '--out', join(folder, 'www', name));
  }
});
afterEach(async () => {
  await page?.context().close();
  await server?.close();
});
after(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true });
});

const open = async (body, { change = undefined, ...options } = {}) => {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width"><link rel="icon" href="git/assets/icon.svg"><script type="module" src="git/assets/kb-embed.js"></script></head><body><h1>Host page</h1>${body}</body></html>`;
  server = await serveFolder(join(folder, 'www'), { extra: { 'host.html': html }, change });
  page = await openPage(browser, options);
  await page.addInitScript(() => addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
  await page.goto(`${server.url}host.html`);
};
const results = (element = 'kb-search') => page.locator(`${element} .hit`).evaluateAll((items) => items.map((item) => {
  const link = item.querySelector('.hit-title a');
  return { title: link.textContent, site: link.href.split('?')[0].replace(/^.*:\d+/, ''), file: item.querySelector('.hit-file').textContent };
}));
const ask = async (text, by = 'meaning') => {
  await page.locator('kb-search #q').fill(text);
  await page.locator(`kb-search .results[data-by="${by}"][data-question="${text}"]`).waitFor({ timeout: 90_000 });
};

test('two bases are one search: each question finds its own, links and reading stay in the right one, one model for both', async () => {
  await open('<kb-search bundles="git/, search/"></kb-search>');
  await ask('undo the last commit');
  const [first] = await results();
  assert.equal(first.site, '/git/');
  assert.equal(first.file, '03-undo.md');
  await ask('倒排索引里存的是什么');
  const list = await results();
  assert.equal(list[0].site, '/search/');
  assert.equal(list[0].file, '02-inverted-index.md');
  assert.equal(page.workers().filter((worker) => worker.url().endsWith('encoder-worker.js')).length, 1);
  assert.equal(page.workers().filter((worker) => worker.url().endsWith('search-worker.js')).length, 2);
  assert.equal([...server.sent.keys()].filter((path) => path.endsWith('model.onnx')).length, 1, 'the model came once');
  await page.locator('kb-search .hit-title a').first().click();
  await page.locator('kb-search .prose .passage').waitFor();
  assert.match(await page.locator('kb-search .sheet-head').innerText(), /course \/ 02-inverted-index\.md/);
  assert.ok((await page.locator('kb-search .toc a').first().getAttribute('href'))?.startsWith(`${server.url}search/?doc=course/02-inverted-index.md`));
  await page.locator('kb-search .reader-back').click();
  await page.locator('kb-search .hit').first().waitFor();
  // A result opens its own base's page in a tab.
  const [tab] = await Promise.all([page.context().waitForEvent('page'), page.locator('kb-search .hit-title a').first().click({ modifiers: ['ControlOrMeta'] })]);
  await tab.locator('.prose .passage').waitFor();
  assert.match(tab.url(), /\/search\/\?doc=course\/02-inverted-index\.md/);
  assert.deepEqual(page.problems, []);
});

test('one base after the other can be chosen, though their collections have one name', async () => {
  await open('<kb-search bundles="git/, search/"></kb-search>');
  await ask('index');
  assert.deepEqual(await page.locator('kb-search .scope[data-scope]').allTextContents(), ['Everything', 'Git', '检索']);
  await page.locator('kb-search .scope', { hasText: '检索' }).first().click();
  await page.waitForFunction(() => {
    const hits = [...document.querySelector('kb-search').shadowRoot.querySelectorAll('.hit-title a')];
    return hits.length > 0 && hits.every((link) => link.href.includes('/search/?doc='));
  });
  assert.deepEqual(page.problems, []);
});

test('a weight moves a base up or down', async () => {
  const share = async (bundles) => {
    await open(`<kb-search bundles="${bundles}"></kb-search>`);
    await ask('history');
    const list = await results();
    await page.context().close();
    await server.close();
    return list.slice(0, 4).filter(({ site }) => site === '/search/').length;
  };
  const low = await share('git/, search/ 0.01');
  const high = await share('git/ 0.01, search/');
  assert.equal(low, 0);
  assert.equal(high, 4);
});

test('a base that is away costs its own results, and that is said', async () => {
  await open('<kb-search bundles="git/, nowhere/"></kb-search>');
  await ask('undo the last commit');
  assert.equal((await results())[0].file, '03-undo.md');
  assert.match(await page.locator('kb-search [data-status-text]').innerText(), /^1 of 2 knowledge bases could not be loaded: nowhere\./);
  assert.deepEqual(page.problems.filter((text) => !/status of 404/.test(text)), []);
});

test('<kb-ask>: Enter asks for an answer, whose citations open', async () => {
  await open('<kb-ask src="git"></kb-ask>');
  await page.locator('kb-ask #q').fill('how do I undo the last commit');
  await page.keyboard.press('Enter');
  await page.locator('kb-ask .answer[data-kind="extractive"]').waitFor({ timeout: 90_000 });
  assert.ok((await page.locator('kb-ask .answer-text').innerText()).length > 20);
  await page.locator('kb-ask .cite').first().click();
  await page.locator('kb-ask .answer-sources details[open]').waitFor();
  await page.locator('kb-ask .answer-sources details[open] a[data-chunk]').click();
  await page.locator('kb-ask .prose .passage').waitFor();
  assert.match(page.url(), /host\.html$/);
  assert.deepEqual(page.problems, []);
});

test('<kb-source>: a document in the page, its links inside, without the model and without taking the focus', async () => {
  await open('<input id="own" aria-label="own"><kb-source src="git" doc="course/03-undo.md" anchor="the-safety-net"></kb-source>');
  await page.focus('#own');
  await page.locator('kb-source .prose [data-heading]').first().waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'own');
  assert.equal([...server.sent.keys()].some((path) => path.endsWith('model.onnx')), false);
  await page.evaluate(() => document.querySelector('kb-source').setAttribute('doc', 'course/none.md'));
  await page.locator('kb-source .notice').waitFor();
  assert.match(await page.locator('kb-source .notice').innerText(), /This document is not in the knowledge base/);
  assert.deepEqual(page.problems, []);
});

test('<kb-source> without a document says what is missing, and loads nothing', async () => {
  await open('<kb-source src="git"></kb-source>');
  await page.locator('kb-source [role="alert"]').waitFor();
  assert.match(await page.locator('kb-source .notice').innerText(), /names no document.*doc/);
  assert.equal([...server.sent.keys()].some((path) => path.includes('/kb/')), false);
  await page.evaluate(() => document.querySelector('kb-source').setAttribute('doc', 'course/03-undo.md'));
  await page.locator('kb-source .prose [data-heading]').first().waitFor();
  assert.deepEqual(page.problems, []);
});

test('the page is told what is found and opened, and may open it itself', async () => {
  await open('<kb-search src="git"></kb-search>');
  await page.evaluate(() => {
    /** @type {any} */ (globalThis).told = [];
    for (const name of ['kb-state', 'kb-results', 'kb-open']) {
      // On the document: they bubble out of the shadow tree.
      document.addEventListener(name, (event) => {
        /** @type {any} */ (globalThis).told.push({ name, detail: structuredClone(/** @type {CustomEvent} */ (event).detail), on: /** @type {Element} */ (event.target).localName });
        if (name === 'kb-open') event.preventDefault();
      });
    }
  });
  await ask('undo the last commit', 'meaning');
  await page.locator('kb-search .hit-title a').first().click();
  const told = await page.evaluate(() => /** @type {any} */ (globalThis).told);
  assert.ok(told.every(({ on }) => on === 'kb-search'));
  assert.ok(told.some(({ name, detail }) => name === 'kb-state' && detail.words === 'ready'));
  const found = told.findLast(({ name }) => name === 'kb-results').detail;
  assert.equal(found.text, 'undo the last commit');
  assert.equal(found.meaning, true);
  assert.equal(found.hits[0].path, '03-undo.md');
  const opened = told.find(({ name }) => name === 'kb-open').detail;
  assert.deepEqual([opened.doc, opened.passage, opened.text], ['course/03-undo.md', found.hits[0].chunkId, 'undo the last commit']);
  assert.equal(opened.url.startsWith(`${server.url}git/?`), true);
  assert.equal(await page.locator('kb-search .reader').isVisible(), false, 'the page has taken it over');
  assert.deepEqual(page.problems, []);
});

test('<kb-status> and <kb-settings> follow the search of the page', async () => {
  await open('<kb-search src="git"></kb-search><kb-status src="git"></kb-status><kb-settings src="git"></kb-settings>');
  const meaning = page.locator('kb-settings input[type="checkbox"]');
  await ask('branch');
  assert.equal(await page.locator('kb-status [data-status-text]').innerText(), 'Searching by words and by meaning.');
  await page.waitForFunction(() => /Memory in use: \d+ MB/.test(document.querySelector('kb-settings').shadowRoot.textContent ?? ''));
  await meaning.uncheck();
  await page.locator('kb-status [data-status][data-meaning="off"]').waitFor();
  await ask('merge', 'words');
  assert.equal(await page.evaluate(() => Object.entries(localStorage).find(([key]) => key.endsWith('meaning'))?.[1]), 'off');
  await meaning.check();
  await page.locator('kb-status [data-status][data-meaning="ready"]').waitFor({ timeout: 90_000 });
  await page.locator('kb-settings').getByRole('button', { name: 'Language model' }).click();
  await page.locator('kb-settings dialog[open]').waitFor();
  assert.deepEqual(page.problems, []);
});

test('all elements fit 360 pixels, and speak Chinese', async () => {
  await open('<kb-ask src="search" lang="zh"></kb-ask><kb-status src="search" lang="zh"></kb-status><kb-settings src="search" lang="zh"></kb-settings><kb-source src="search" lang="zh" doc="course/04-bm25.md"></kb-source>', { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  await page.locator('kb-source .prose [data-heading]').first().waitFor();
  await page.locator('kb-ask #q').fill('BM25 为什么要看文档长度');
  await page.locator('kb-ask .hit').first().waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  assert.match(await page.locator('kb-settings .settings').innerText(), /按意思搜索/);
  assert.deepEqual(page.problems, []);
});
