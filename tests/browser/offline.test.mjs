// The page without a network: what a visit loaded works, and all of it if the reader asks.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { answered, ask, hits, statusText, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { demoSite, serve, siteOf } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

const prefix = '/course/kb/';
let browser;
let demo;
/** @type {Awaited<ReturnType<typeof serveFolder>> | undefined} */
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
  server = undefined;
});
after(async () => {
  await browser?.close();
  await demo?.remove();
});

const offlineState = (state) => page?.locator(`[data-offline="${state}"]`).waitFor({ state: 'attached', timeout: 60_000 });
/** No server, and a browser that knows it. */
const cut = async () => {
  await server?.close();
  server = undefined;
  await page?.context().setOffline(true);
};
const cacheNames = () => page?.evaluate(async () => (await caches.keys()).sort());

test('after one visit everything that it loaded works without a network, meaning too', async () => {
  server = await serveFolder(demo.site, { prefix });
  page = await openPage(browser);
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'ready');
  await page.locator('.shelf a').first().click();
  await page.locator('.prose').waitFor();
  await offlineState('ready');
  const { url } = server;
  await cut();
  await page.goto(`${url}?q=${encodeURIComponent('are huge movies welcome here')}`);
  await answered(page, 'are huge movies welcome here', 'meaning');
  assert.ok((await hits(page)).slice(0, 3).some(({ path }) => path.endsWith('09-large-and-secret.md')));
  await page.click('.hit-title a');
  await page.locator('.prose .passage').waitFor();
  assert.deepEqual(page.problems, []);
});

test('a visit without the model keeps the words, and "make available offline" brings all, its size said before', async () => {
  server = await serveFolder(demo.site, { prefix });
  page = await openPage(browser);
  await page.addInitScript(() => Object.defineProperty(navigator, 'connection', { value: { saveData: true } }));
  await page.goto(server.url);
  await waitFor(page, 'meaning', 'off');
  await offlineState('idle');
  const offer = page.getByRole('button', { name: /^Make available offline \(\d+ MB\)$/ });
  const megabytes = Number(/\d+/.exec(await offer.innerText())?.[0]);
  server.sent.clear();
  await offer.click();
  await offlineState('ready');
  assert.equal(await page.locator('[data-offline]').innerText(), 'Available offline: searching and reading work without a network.');
  // What this visit has not loaded: the model, the vectors, and the module that runs them.
  const vectors = (await readdir(join(demo.site, 'kb'))).filter((name) => name.startsWith('vectors-')).map((name) => `kb/${name}`);
  const sizes = await Promise.all(['model/model.onnx', 'model/tokenizer.json', 'assets/runtime/kb_encoder_bg.wasm', ...vectors].map(async (path) => (await stat(join(demo.site, path))).size));
  const expected = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
  assert.ok(Math.abs(megabytes - expected) < 1, `${megabytes} MB for ${expected}`);
  assert.ok((server.sent.get('model/model.onnx') ?? 0) > 2e7);
  const { url } = server;
  await cut();
  await page.goto(`${url}?q=branch`);
  await answered(page, 'branch', 'words');
  await page.getByRole('button', { name: /Search by meaning too/ }).click();
  await answered(page, 'branch', 'meaning');
  await page.click('.hit-title a');
  await page.locator('.prose .passage').waitFor();
  assert.deepEqual(page.problems, []);
});

test('a new version shows at once, and takes the place of the old one in the cache', async () => {
  const one = await siteOf({ 'a.md': '# First\n\nThe old text about herons and how they stand in shallow water for hours.\n' }, ['--no-model', '--title', 'Birds']);
  const two = await siteOf({ 'a.md': '# Second\n\nThe new text about plovers and how they run along the shore in the evening.\n' }, ['--no-model', '--title', 'More birds']);
  const folder = await mkdtemp(join(tmpdir(), 'kb-versions-'));
  await symlink(one.site, join(folder, 'kb'));
  server = await serveFolder(folder);
  const url = `${server.url}kb/`;
  page = await openPage(browser);
  await page.goto(url);
  await offlineState('ready');
  const [before] = (await cacheNames() ?? []).filter((name) => name.startsWith('kb-builder-page:'));
  assert.match(before, /^kb-builder-page:\/kb\/:[0-9a-f]{16}$/);
  await rm(join(folder, 'kb'));
  await symlink(two.site, join(folder, 'kb'));
  await page.goto(`${url}?q=plovers`);
  await answered(page, 'plovers', 'words');
  assert.equal(await page.locator('.brand-name').textContent(), 'More birds');
  await page.waitForFunction(async (old) => {
    const names = (await caches.keys()).filter((name) => name.startsWith('kb-builder-page:'));
    return names.length === 1 && names[0] !== old;
  }, before, { timeout: 30_000 });
  await cut();
  await page.goto(`${url}?q=plovers`);
  await answered(page, 'plovers', 'words');
  assert.equal(await page.locator('.brand-name').textContent(), 'More birds');
  assert.deepEqual(page.problems, []);
  await Promise.all([one.remove(), two.remove(), rm(folder, { recursive: true })]);
});

test('a network that does not answer counts as gone, and all of the page is of one version', async () => {
  const one = await siteOf({ 'a.md': '# First\n\nThe text about herons and how they stand in shallow water for hours.\n' }, ['--no-model']);
  /** Held back, as by a network that is there and does nothing. */
  let stuck = false;
  server = await serveFolder(one.site, { change: (path) => (stuck && path === '.' ? new Promise(() => {}) : undefined), headers: { 'cache-control': 'no-cache' } });
  page = await openPage(browser);
  await page.goto(server.url);
  await offlineState('ready');
  stuck = true;
  server.sent.clear();
  await page.goto(`${server.url}?q=herons`);
  await answered(page, 'herons', 'words');
  assert.equal(server.sent.get('assets/app.js'), undefined, 'the rest of the page does not wait for the network');
  assert.equal(server.sent.get('assets/runtime/kb_search_bg.wasm'), undefined, 'nor do its workers');
  assert.deepEqual(page.problems, []);
  await one.remove();
});

test('two knowledge bases on one origin keep apart', async () => {
  const inner = await siteOf({ 'a.md': '# Inner\n\nA text about lanterns, which are carried through the streets in the evening.\n' }, ['--no-model']);
  const folder = await mkdtemp(join(tmpdir(), 'kb-two-'));
  await symlink(inner.site, join(folder, 'one'));
  await symlink(demo.site, join(folder, 'two'));
  server = await serveFolder(folder);
  page = await openPage(browser);
  await page.goto(`${server.url}one/`);
  await offlineState('ready');
  await page.goto(`${server.url}two/?q=branch`);
  await answered(page, 'branch', 'words');
  await waitFor(page, 'meaning', 'ready');
  await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistrations()).length === 2, undefined, { timeout: 30_000 });
  await page.waitForFunction(async () => (await caches.keys()).filter((name) => name.startsWith('kb-builder-page:')).length === 2, undefined, { timeout: 30_000 });
  const names = await cacheNames() ?? [];
  assert.ok(names.includes('kb-builder:/one/') && names.includes('kb-builder:/two/'), `${names}`);
  const { url } = server;
  await cut();
  await page.goto(`${url}one/?q=lanterns`);
  await answered(page, 'lanterns', 'words');
  assert.deepEqual(page.problems, []);
  await Promise.all([inner.remove(), rm(folder, { recursive: true })]);
});

test('`kb-builder serve` has no service worker, and takes away one that was left on its port', async () => {
  const served = await serve(demo.site);
  page = await openPage(browser);
  await page.goto(served.url);
  await waitFor(page, 'meaning', 'ready');
  await page.waitForTimeout(2500);
  assert.equal(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
  assert.equal(await page.locator('[data-offline]').isVisible(), false);
  // What another server on this port would have left.
  await page.evaluate(() => navigator.serviceWorker.register('sw.js'));
  await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistrations()).length === 0, undefined, { timeout: 10_000 });
  assert.deepEqual(page.problems, []);
  await served.close();
});

test('the page can be installed', async () => {
  server = await serveFolder(demo.site, { prefix });
  page = await openPage(browser);
  await page.goto(server.url);
  await page.locator('[data-offline="idle"], [data-offline="ready"]').waitFor({ state: 'attached', timeout: 60_000 });
  const session = await page.context().newCDPSession(page);
  const { errors, data } = await session.send('Page.getAppManifest');
  assert.deepEqual(errors, []);
  const manifest = JSON.parse(data ?? '{}');
  assert.equal(manifest.name, 'kb-builder · 演示');
  for (const { src, sizes } of manifest.icons.filter(({ type }) => type === 'image/png')) {
    const size = await page.evaluate(async (url) => {
      const image = await createImageBitmap(await (await fetch(url)).blob());
      return `${image.width}x${image.height}`;
    }, src);
    assert.equal(size, sizes);
  }
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
  // A window without a profile can install nothing; all else must be right.
  assert.deepEqual(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito'), []);
  assert.deepEqual(page.problems, []);
});

test('a browser without space for it says so, and goes on searching', async () => {
  server = await serveFolder(demo.site, { prefix });
  page = await openPage(browser);
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'connection', { value: { saveData: true } });
    const put = Cache.prototype.put;
    Cache.prototype.put = function (key, response) {
      return String(key.url ?? key).includes('model.onnx') ? Promise.reject(new DOMException('full', 'QuotaExceededError')) : put.call(this, key, response);
    };
  });
  await page.goto(server.url);
  await offlineState('idle');
  await page.getByRole('button', { name: /^Make available offline/ }).click();
  await offlineState('failed');
  assert.match(await page.locator('[data-offline]').innerText(), /^Not yet available offline\. This browser has not enough space for it\./);
  await ask(page, 'branch', 'words');
  assert.match(await statusText(page) ?? '', /your browser asks to save data/);
  assert.deepEqual(page.problems, []);
});
