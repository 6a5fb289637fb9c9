// Formulas in documents: set as MathML by a library that comes only with a document that has one.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launch, openPage } from './support/browser.mjs';
import { kb, siteOf } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

const files = {
  'a.md': '# 欧拉公式\n\n著名的等式 $e^{i\\pi}+1=0$ 把五个常数连在一起。\n\n$$\n\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}\n$$\n\n坏的写法 $\\frac{1}{$ 保持原样。\n\n| 记号 | 含义 |\n|---|---|\n| $\\sqrt{x}$ | 平方根 |\n',
  'hostile.md': [
    '# Hostile', '', '$\\href{javascript:alert(1)}{x}$ and $\\htmlStyle{position:fixed}{y}$ and $\\includegraphics{https://e.org/x.png}$ and $\\url{javascript:1}$.', '',
    '$\\def\\a{\\a\\a}\\a$ never ends, $\\rule{9999em}{9999em}$ is large, $\\text{<img src=x onerror=alert(1)>}$ is text, $\\color{red}{z}$ is red.', '', `$${'x+'.repeat(4000)}x$ is long.`, '',
  ].join('\n'),
  'plain.md': '# Plain\n\nNo formula stands here; it costs $5 or $6 to enter the garden in the evening.\n',
};

let browser;
let built;
let server;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let page;

before(async () => {
  browser = await launch();
  built = await siteOf(files, ['--no-model']);
  server = await serveFolder(built.site);
});
afterEach(async () => {
  await page?.context().close();
  server.sent.clear();
});
after(async () => {
  await browser?.close();
  await server?.close();
  await built?.remove();
});

const katex = 'assets/vendor/katex/katex.js';
const open = async (doc) => {
  // The service worker fetches what the page may need later; here only what the page itself asks for counts.
  page = await openPage(browser, { serviceWorkers: 'block' });
  await page.addInitScript(() => addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.sourceFile}`)));
  await page.goto(`${server.url}?doc=source/${doc}`);
  await page.locator('.prose p').first().waitFor();
};

test('formulas in text, on a line of their own and in a table become MathML; a broken one stays as it is written', async () => {
  await open('a.md');
  await page.locator('.prose math').nth(2).waitFor();
  assert.equal(await page.locator('.prose math').count(), 3);
  assert.equal(await page.locator('.prose .tex[data-display] math mfrac').count(), 1);
  assert.equal(await page.locator('.prose td math msqrt').count(), 1);
  const box = await page.locator('.prose .tex[data-display] math').boundingBox();
  assert.ok(box && box.height > 35, 'the sum is set in two storeys');
  const broken = page.locator('.prose .tex[data-failed]');
  assert.equal(await broken.textContent(), '\\frac{1}{');
  assert.match(await broken.getAttribute('title') ?? '', /parse error/);
  assert.ok(server.sent.get(katex), 'the library came');
  assert.deepEqual(page.problems, []);
});

test('a document without formulas costs nothing', async () => {
  await open('plain.md');
  await page.waitForTimeout(300);
  assert.equal(server.sent.get(katex), undefined);
  assert.match(await page.locator('.prose').innerText(), /costs \$5 or \$6/);
});

test('hostile formulas make no link, image, style or endless loop', async () => {
  await open('hostile.md');
  await page.locator('.prose math').first().waitFor();
  await page.waitForTimeout(300);
  const found = await page.locator('.prose').evaluate((prose) => ({
    links: prose.querySelectorAll('[href], a').length, images: prose.querySelectorAll('img, mglyph').length,
    styled: [...prose.querySelectorAll('[style]')].map((each) => each.outerHTML),
    widest: Math.max(...[...prose.querySelectorAll('math *')].map((each) => each.getBoundingClientRect().width)),
  }));
  assert.equal(found.links, 0);
  assert.equal(found.images, 0);
  assert.ok(found.styled.every((html) => !html.includes('position')), `${found.styled}`);
  assert.ok(found.widest < 1500, `${found.widest}`);
  assert.match(await page.locator('.prose').innerText(), /never ends/);
  assert.deepEqual(page.problems, []);
});

test('a handout sets them from the disk, and one without formulas does not carry the library', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kb-formulas-'));
  const path = join(folder, 'h.html');
  await kb('export', built.site, '--single-file', path, '--no-model');
  page = await openPage(browser);
  await page.goto(`${pathToFileURL(path)}#?doc=source/a.md`);
  await page.locator('.prose math').nth(2).waitFor();
  assert.deepEqual(page.problems, []);
  const without = await siteOf({ 'n.md': '# Notes\n\nNothing to set here, only words about gardens and owls.\n' }, ['--no-model']);
  const small = join(folder, 's.html');
  await kb('export', without.site, '--single-file', small, '--no-model');
  await without.remove();
  const [{ size: large }, { size }] = await Promise.all([path, small].map((each) => import('node:fs/promises').then(({ stat }) => stat(each))));
  assert.ok(large - size > 200_000, `${large} ${size}`);
  await writeFile(path, '');
  await rm(folder, { recursive: true });
});
