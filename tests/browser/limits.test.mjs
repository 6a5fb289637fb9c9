// Little memory, no SIMD, no space, a slow processor, workers that the browser ends, two tabs at once.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { answered, ask, hits, statusText, waitFor } from './support/actions.mjs';
import { launch, openPage } from './support/browser.mjs';
import { demoSite } from './support/site.mjs';
import { gate, serveFolder } from './support/static.mjs';

let browser;
let demo;
let server;
/** @type {Awaited<ReturnType<typeof openPage>>} */
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

const open = async (address = '', script = undefined, options = {}) => {
  server = await serveFolder(demo.site);
  page = await openPage(browser, options);
  if (script) await page.addInitScript(script);
  await page.goto(server.url + address);
};
const encoderBytes = () => server.sent.get('assets/runtime/kb_encoder_bg.wasm');

test('a device with little memory is not sent the model, and may ask for it', async () => {
  await open('', () => Object.defineProperty(navigator, 'deviceMemory', { value: 0.5 }), { locale: 'zh-CN' });
  await waitFor(page, 'meaning', 'off');
  assert.match(await statusText(page) ?? '', /^只按词语搜索：这台设备内存较小，而语义模型有 30 MB。$/);
  assert.equal(encoderBytes(), undefined);
  await ask(page, 'branch', 'words');
  assert.ok((await hits(page)).length > 0);
  assert.equal(await page.locator('[data-status-actions] button').count(), 1);
  assert.deepEqual(page.problems, []);
});

test('a browser without SIMD searches by words, and says why', async () => {
  await open('', () => {
    const { validate } = WebAssembly;
    WebAssembly.validate = (bytes) => !new Uint8Array(/** @type {any} */ (bytes)).includes(253) && validate(bytes);
  });
  await waitFor(page, 'meaning', 'off');
  assert.equal(await statusText(page), 'Searching by words only: this browser lacks WebAssembly SIMD, which the model needs.');
  assert.equal(encoderBytes(), undefined);
  await ask(page, 'branch', 'words');
  assert.deepEqual(page.problems, []);
});

test('a full disk costs the next visit a download, not this one its search', async () => {
  server = await serveFolder(demo.site);
  page = await openPage(browser);
  const session = await page.context().newCDPSession(page);
  await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(server.url).origin, quotaSize: 2_000_000 });
  await page.goto(`${server.url}?q=branch`);
  await answered(page, 'branch', 'meaning');
  assert.match(await statusText(page) ?? '', /by meaning\. This browser has no space to keep the model, so the next visit loads it again\.$/);
  assert.deepEqual(page.problems, []);
});

for (const [kind, question] of [['search-worker', 'branch'], ['encoder-worker', 'rebase']]) {
  test(`a ${kind} that the browser ends is started again`, async () => {
    await open();
    await waitFor(page, 'meaning', 'ready');
    const worker = page.workers().find((each) => each.url().endsWith(`${kind}.js`));
    const gone = new Promise((resolve) => worker?.once('close', resolve));
    await worker?.evaluate(() => self.close()).catch(() => {});
    await gone;
    await page.locator('[data-status-text]', { hasText: 'was started again' }).waitFor({ timeout: 60_000 });
    await ask(page, question, 'meaning');
    assert.ok((await hits(page)).length > 0);
    assert.deepEqual(page.problems, []);
  });
}

test('two tabs: the model is downloaded once, and both search by meaning', async () => {
  await open('?q=branch');
  const second = await page.context().newPage();
  await second.goto(`${server.url}?q=rebase`);
  await Promise.all([answered(page, 'branch', 'meaning'), answered(second, 'rebase', 'meaning')]);
  const { bytes } = JSON.parse(await (await fetch(`${server.url}model/model.json`)).text()).files.find(({ file }) => file === 'model.onnx');
  assert.equal(server.sent.get('model/model.onnx'), bytes);
  assert.deepEqual(page.problems, []);
});

test('what is typed before the scripts are there is not lost', async () => {
  const { opened, open: letGo } = gate();
  server = await serveFolder(demo.site, { change: (path) => (path === 'assets/app.js' ? opened.then(() => undefined) : undefined) });
  page = await openPage(browser);
  await page.goto(server.url, { waitUntil: 'commit' });
  await page.locator('#q').pressSequentially('branch');
  letGo();
  await answered(page, 'branch', 'meaning');
  assert.equal(await page.inputValue('#q'), 'branch');
  assert.match(page.url(), /\?q=branch$/);
  assert.deepEqual(page.problems, []);
});

test('Enter before the scripts are there neither leaves the page nor loses the question', async () => {
  const { opened, open: letGo } = gate();
  server = await serveFolder(demo.site, { change: (path) => (path === 'assets/app.js' ? opened.then(() => undefined) : undefined) });
  page = await openPage(browser);
  let documents = 0;
  page.on('request', (request) => (documents += Number(request.isNavigationRequest())));
  await page.goto(server.url, { waitUntil: 'commit' });
  await page.locator('#q').pressSequentially('branch');
  await page.keyboard.press('Enter');
  letGo();
  await answered(page, 'branch', 'meaning');
  assert.equal(documents, 1, 'the form was not sent: the browser would have begun again');
  assert.equal(await page.inputValue('#q'), 'branch');
  assert.deepEqual(page.problems, []);
});

test('a processor four times slower: the box takes letters before anything else is there, and typing never stalls', async () => {
  server = await serveFolder(demo.site);
  page = await openPage(browser);
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.addInitScript(() => {
    /** @type {any} */ (window).tasks = [];
    new PerformanceObserver((list) => /** @type {any} */ (window).tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  });
  await page.goto(server.url, { waitUntil: 'commit' });
  await page.locator('#q').pressSequentially('bra');
  assert.equal(await page.inputValue('#q'), 'bra');
  await page.locator('#q').pressSequentially('nch');
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector('[data-results]')).dataset.question === 'branch', undefined, { timeout: 30_000 });
  await waitFor(page, 'meaning', 'ready');
  await page.waitForTimeout(2000);
  await page.evaluate(() => (/** @type {any} */ (window).tasks.length = 0));
  await page.fill('#q', '');
  await page.locator('#q').pressSequentially('how do I undo a commit', { delay: 60 });
  await answered(page, 'how do I undo a commit', 'meaning');
  const tasks = await page.evaluate(() => /** @type {any} */ (window).tasks);
  assert.ok(Math.max(0, ...tasks) < 250, `the longest task at a quarter of the speed took ${Math.max(0, ...tasks)} ms`);
  assert.deepEqual(page.problems, []);
});
