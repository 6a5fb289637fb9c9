// Handouts: one HTML file, opened from the disk in Chromium, and in Firefox where there is one.

import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { answered, ask, hits, statusText, waitFor } from './support/actions.mjs';
import { firefoxPath, launch, launchFirefox, openPage } from './support/browser.mjs';
import { demoSite, kb, root } from './support/site.mjs';

let browser;
let demo;
let folder;
/** @type {Awaited<ReturnType<typeof openPage>> | undefined} */
let page;

before(async () => {
  browser = await launch();
  demo = await demoSite();
  folder = await mkdtemp(join(tmpdir(), 'kb-handout-'));
});
afterEach(async () => {
  await page?.context().close();
  page = undefined;
});
after(async () => {
  await browser?.close();
  await demo?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const question = 'who is responsible for this statement';

/** Opens a file from the disk and remembers every address that it asked for. */
async function open(path) {
  page = await openPage(browser);
  /** @type {string[]} */
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(path).href);
  return requests;
}
/** Nothing but the file itself, and the blobs that it made of itself. */
const outside = (requests, path) => requests.filter((url) => !url.startsWith(pathToFileURL(path).href) && !/^(blob|data):/.test(url));

test('a single file: words, meaning and reading from the disk, and no request', async () => {
  const path = join(folder, '课程 handout.html');
  const said = await kb('export', demo.site, '--single-file', path);
  const bytes = (await stat(path)).size;
  // The sentence gives the size of the file and of its parts.
  const [, total] = /: ([\d.]+) MB \(page [\d.]+ [kM]B, text and index [\d.]+ [kM]B, model [\d.]+ MB\)/.exec(said) ?? [];
  assert.equal(total, (bytes / 1e6).toFixed(1));
  console.log(`# ${said.trim()}`);
  const requests = await open(path);
  await waitFor(page, 'meaning', 'ready');
  await ask(page, question);
  assert.ok((await hits(page)).slice(0, 5).some(({ title }) => title === 'Who wrote this line'));
  assert.match(page.url(), /#\?q=who\+is/);
  await page.locator('.hit-title a', { hasText: 'Who wrote this line' }).click();
  await page.locator('.prose .passage').waitFor();
  assert.match(await page.locator('.prose .passage').innerText(), /blame/);
  await page.locator('.toc a').first().click();
  await page.goBack();
  await page.goBack();
  await answered(page, question, 'meaning');
  await page.reload();
  await answered(page, question, 'meaning');
  await page.locator('.brand').click();
  await page.locator('.shelf a').first().waitFor();
  assert.equal(await page.locator('[data-offline]').isVisible(), false);
  assert.deepEqual(outside(requests, path), []);
  assert.deepEqual(page.problems, []);
});

test('the same in Firefox', { skip: !firefoxPath() && 'no Firefox: install firefox-esr, or set FIREFOX to its path' }, async () => {
  const path = join(folder, 'firefox.html');
  await kb('export', demo.site, '--single-file', path);
  const firefox = await launchFirefox();
  try {
    const tab = await firefox.newPage();
    /** @type {string[]} */
    const problems = [];
    tab.on('console', (message) => ['error', 'warn'].includes(message.type()) && problems.push(message.text()));
    tab.on('pageerror', (error) => problems.push(String(error)));
    await tab.goto(pathToFileURL(path).href);
    await tab.waitForSelector('[data-status][data-meaning="ready"]', { timeout: 120_000 });
    await tab.type('#q', question);
    await tab.waitForFunction((q) => {
      const root = /** @type {HTMLElement} */ (document.querySelector('[data-results]'));
      return root.dataset.question === q && root.dataset.by === 'meaning';
    }, { timeout: 60_000 }, question);
    const titles = await tab.$$eval('.hit-title', (all) => all.map((each) => each.textContent));
    assert.ok(titles.slice(0, 5).includes('Who wrote this line'), `${titles}`);
    await tab.evaluate((title) => {
      const link = [...document.querySelectorAll('.hit-title a')].find((each) => each.textContent === title);
      /** @type {HTMLElement} */ (link)?.click();
    }, 'Who wrote this line');
    await tab.waitForSelector('.prose .passage');
    assert.match(await tab.$eval('.prose .passage', (each) => each.textContent ?? ''), /blame/);
    assert.match(tab.url(), /#\?doc=course-en\//);
    assert.deepEqual(problems, []);
  } finally {
    await firefox.close();
  }
});

test('the same site gives the same file', async () => {
  const paths = ['a.html', 'b.html'].map((name) => join(folder, name));
  for (const path of paths) await kb('export', demo.site, '--single-file', path, '--no-model');
  const [a, b] = await Promise.all(paths.map((path) => readFile(path)));
  assert.ok(a.equals(b));
});

test('without the model it is small and searches by words', async () => {
  const path = join(folder, 'words.html');
  console.log(`# ${(await kb('export', demo.site, '--single-file', path, '--no-model')).trim()}`);
  // A quarter of a megabyte of it sets the formulas of the demo.
  assert.ok((await stat(path)).size < 1_350_000);
  const requests = await open(path);
  await waitFor(page, 'meaning', 'off');
  await ask(page, '最近邻', 'words');
  assert.ok((await hits(page)).some(({ marks }) => marks.includes('最近邻')));
  assert.match(await statusText(page) ?? '', /this copy comes without the model/);
  // An address that somebody passed on leads to the passage.
  const { href } = (await hits(page))[0];
  await page.goto(pathToFileURL(path).href + href);
  await page.reload();
  await page.locator('.prose .passage').waitFor();
  assert.deepEqual(outside(requests, path), []);
  assert.deepEqual(page.problems, []);
});

test('a page that was there gets a button and keeps its own text, in its own encoding', async () => {
  const notes = join(folder, 'notes.html');
  const gbk = Buffer.concat([Buffer.from('<!doctype html><html><head><meta charset="gbk"><title>n</title></head><body><h1>'), Buffer.from([0xb1, 0xca, 0xbc, 0xc7]), Buffer.from('</h1><textarea></textarea></body></html>')]);
  await writeFile(notes, gbk);
  const out = join(folder, 'notes.kb.html');
  assert.match(await kb('attach', notes, '--site', demo.site, '--no-model', '--lang', 'zh'), /notes\.kb\.html: [\d.]+ [kM]B .*no model/);
  const first = await readFile(out);
  await kb('attach', out, '--site', demo.site, '--no-model', '--lang', 'zh', '--out', out);
  assert.ok((await readFile(out)).equals(first), 'done again it is the same');
  const requests = await open(out);
  assert.equal(await page.locator('h1').first().innerText(), '笔记');
  await page.getByRole('button', { name: '搜索这个知识库' }).click();
  await page.keyboard.type('branch');
  await page.locator('kb-modal [data-question="branch"] .hit').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('kb-modal .prose .passage').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('kb-modal dialog').waitFor({ state: 'hidden' });
  assert.deepEqual(outside(requests, out), []);
  assert.deepEqual(page.problems, []);
});

/** The words that a search finds in a PDF. @param {string} pdf @param {string} question */
async function foundInPdf(pdf, question) {
  const from = await mkdtemp(join(tmpdir(), 'kb-pdf-'));
  await copyFile(pdf, join(from, 'printed.pdf'));
  await kb('build', from, '--no-model', '--out', join(from, 'site'));
  const said = JSON.parse(await kb('search', join(from, 'site'), question, '--json'));
  await rm(from, { recursive: true });
  return said.hits.map(({ excerpt }) => excerpt.text ?? excerpt).join(' ');
}

test('the example of a lecture: searched from the disk in Chinese, and printed with its own text and nothing of the search', async () => {
  const out = join(folder, 'lecture.html');
  await kb('attach', join(root, 'docs/examples/lecture-zh.html'), '--site', demo.site, '--no-model', '--out', out);
  const requests = await open(out);
  await page.getByRole('button', { name: '搜索这个知识库' }).click();
  await page.keyboard.insertText('变长字节');
  await page.locator('kb-modal .hit').first().waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  const pdf = join(process.env.KB_ARTEFACTS ?? folder, 'lecture-zh.pdf');
  await page.pdf({ path: pdf });
  assert.match(await foundInPdf(pdf, '两个指针移动的过程'), /两个指针移动的过程/);
  assert.doesNotMatch(await foundInPdf(pdf, '搜索这个知识库'), /搜索这个知识库/);
  assert.deepEqual(outside(requests, out), []);
  assert.deepEqual(page.problems, []);
});

test('a document printed from a handout is its text, without box and buttons', async () => {
  const path = join(folder, 'printed.html');
  await kb('export', demo.site, '--single-file', path, '--no-model');
  await open(path);
  await page.goto(`${pathToFileURL(path).href}#?doc=course-zh/02-inverted-index.md`);
  await page.locator('.prose p').first().waitFor();
  const pdf = join(folder, 'document.pdf');
  await page.pdf({ path: pdf });
  assert.match(await foundInPdf(pdf, '变长字节编码'), /变长字节/);
  assert.match(await foundInPdf(pdf, '小索引并入大索引'), /并入大索引/);
  assert.doesNotMatch(await foundInPdf(pdf, 'All documents Copy'), /All documents|Copy/);
  assert.deepEqual(page.problems, []);
});

test('two handouts in one folder share neither questions nor choices', async () => {
  const [one, two] = ['one.html', 'two.html'].map((name) => join(folder, name));
  for (const path of [one, two]) await kb('export', demo.site, '--single-file', path, '--no-model');
  await open(one);
  await waitFor(page, 'words', 'ready');
  await ask(page, 'branch', 'words');
  await page.keyboard.press('Enter');
  await page.locator('button[data-theme]').click();
  await page.locator('.brand').click();
  await page.locator('[data-recent]', { hasText: 'branch' }).waitFor();
  await page.goto(pathToFileURL(two).href);
  await waitFor(page, 'words', 'ready');
  assert.equal(await page.locator('[data-recent]').isVisible(), false);
  assert.equal(await page.locator('button[data-theme]').getAttribute('data-theme-choice'), 'auto');
  await page.goto(pathToFileURL(one).href);
  await waitFor(page, 'words', 'ready');
  await page.locator('[data-recent]', { hasText: 'branch' }).waitFor();
  assert.equal(await page.locator('button[data-theme]').getAttribute('data-theme-choice'), 'light');
});

test('mistakes are told', async () => {
  await assert.rejects(kb('export', folder, '--single-file', join(folder, 'x.html')), /is not a knowledge base/);
  await assert.rejects(kb('attach', join(folder, 'nowhere.html'), '--site', demo.site), /cannot read/);
  await assert.rejects(kb('export', demo.site), /--single-file/);
});
