// What a site says to those who run no script: people, crawlers, language models, other programs.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { launch, openPage } from './support/browser.mjs';
import { program, siteOf } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

const run = promisify(execFile);
const title = 'Course </title><script>window.hacked=1</script> "x"';
const files = {
  'heaps.md': '---\ntitle: Heaps <img src=x onerror="window.hacked=2">\n---\n\nA heap keeps the smallest key on top, which makes it the usual queue of many algorithms.\n',
  '图/最短路.md': '# 最短路\n\n在有向图里找两点之间的最短路，可以用 Dijkstra 算法，边权不能是负数。\n',
};

let browser;
let built;
let server;
/** @type {Awaited<ReturnType<typeof openPage>> | undefined} */
let page;

before(async () => {
  browser = await launch();
  built = await siteOf(files, ['--no-model', '--title', title, '--site-url', 'https://example.org/course']);
  server = await serveFolder(built.site, { prefix: '/course/' });
});
afterEach(async () => {
  await page?.context().close();
});
after(async () => {
  await browser?.close();
  await server?.close();
  await built?.remove();
});

test('without JavaScript the page is a list of its documents, each of which opens', async () => {
  page = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(server.url);
  assert.equal(await page.title(), title);
  const links = page.locator('.library a');
  assert.deepEqual(await links.allTextContents(), ['Heaps <img src=x onerror="window.hacked=2">', '最短路']);
  const opened = await page.request.get(new URL(await links.nth(1).getAttribute('href') ?? '', server.url).href);
  assert.equal(opened.status(), 200);
  assert.match(await opened.text(), /Dijkstra 算法/);
  await page.goto(`${server.url}documents.html`);
  assert.equal(await page.locator('.shelf a').count(), 2);
  assert.deepEqual(page.problems, []);
});

test('nothing in a title runs, with JavaScript either', async () => {
  page = await openPage(browser);
  for (const path of ['', 'documents.html']) {
    await page.goto(server.url + path);
    await page.locator('.shelf a').first().waitFor();
    assert.equal(await page.evaluate(() => /** @type {any} */ (window).hacked), undefined);
    assert.equal(await page.locator('.library img').count(), 0);
  }
  assert.deepEqual(page.problems, []);
});

test('a preview of a link: title, description, image, and the one address', async () => {
  page = await openPage(browser);
  await page.goto(server.url);
  const content = (name) => page?.locator(`meta[property="${name}"], meta[name="${name}"]`).getAttribute('content');
  assert.equal(await content('og:title'), title);
  assert.match(await content('og:description') ?? '', /2 documents|2 篇文档/);
  assert.equal(await content('og:url'), 'https://example.org/course/');
  assert.equal(await content('og:image'), 'https://example.org/course/assets/icons/icon-512.png');
  assert.equal(await page.locator('link[rel="canonical"]').getAttribute('href'), 'https://example.org/course/');
});

test('llms.txt and catalog.json name every document and where it is', async () => {
  const llms = await readFile(join(built.site, 'llms.txt'), 'utf8');
  assert.match(llms, /^# Course /);
  const address = /\[最短路\]\((https:\/\/example\.org\/course\/(\S+))\)/.exec(llms);
  assert.ok(address, llms);
  assert.match(await readFile(join(built.site, decodeURIComponent(address[2])), 'utf8'), /Dijkstra/);
  const catalog = JSON.parse(await readFile(join(built.site, 'catalog.json'), 'utf8'));
  assert.deepEqual(catalog.documents.map(({ path, lang }) => [path, lang]), [['heaps.md', 'en'], ['图/最短路.md', 'zh']]);
  for (const { file } of catalog.documents) assert.ok((await readFile(join(built.site, decodeURIComponent(file)), 'utf8')).length > 0);
});

test('404.html needs nothing from beside it', async () => {
  page = await openPage(browser);
  const html = await readFile(join(built.site, '404.html'), 'utf8');
  const other = await serveFolder(built.site, { extra: { 'a/b/c.html': html } });
  /** @type {string[]} */
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${other.url}a/b/c.html`);
  assert.equal(await page.locator('h1').innerText(), 'There is no page here');
  assert.deepEqual(asked, ['/a/b/c.html']);
  await other.close();
});

test('`init --github-pages` writes a workflow and settings, and overwrites nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kb-init-'));
  const init = (...args) => run(program(), ['init', ...args], { cwd: folder });
  await assert.rejects(init('--github-pages'), /there is no kb\.toml here/);
  await assert.rejects(init('notes', '--github-pages'), /there is no notes/);
  await mkdir(join(folder, 'notes'));
  await init('notes', '--github-pages', '--branch', 'trunk');
  const workflow = await readFile(join(folder, '.github/workflows/knowledge-base.yml'), 'utf8');
  assert.match(workflow, /branches: \[trunk\]/);
  assert.match(workflow, /actions\/deploy-pages@v4/);
  assert.match(workflow, /kb-builder build --out _site/);
  assert.match(await readFile(join(folder, 'kb.toml'), 'utf8'), /path = "notes"/);
  await assert.rejects(init('--github-pages'), /is there already/);
  // What the workflow runs works with what was written.
  await writeFile(join(folder, 'notes/a.md'), '# A\n\nA text about lanterns that is long enough to be found by somebody who looks for it.\n');
  await run(program(), ['build', '--out', '_site', '--no-model'], { cwd: folder });
  await readFile(join(folder, '_site/index.html'));
  await rm(folder, { recursive: true });
});
