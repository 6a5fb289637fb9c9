// What the author of a page fixes on an element also holds for opening documents, by whatever is known of them.

import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { launch, openPage } from './support/browser.mjs';
import { siteOf } from './support/site.mjs';
import { serveFolder } from './support/static.mjs';

const note = (title, front, body) => `---\n${front}\n---\n# ${title}\n\n${body}\n`;
const FILES = {
  'open.md': note('Open', 'tags: [public]\ndate: 2026-03-01', 'Everybody may read of the lighthouse. See [the draft](draft.md).'),
  'draft.md': note('Draft', 'tags: [draft]\ndate: 2026-02-01', 'Nobody may read of the lighthouse keeper yet.'),
  // Its path begins like that of a document that may be seen.
  'plan.md': note('Plan', 'tags: [draft]', 'The plan for the lighthouse.'),
  'plan.md.md': note('Plan, printed', 'tags: [public]', 'The printed plan for the lighthouse.'),
};

let browser;
let built;
let folder;
let server;
/** @type {Awaited<ReturnType<typeof openPage>> | undefined} */
let page;

before(async () => {
  browser = await launch();
  built = await siteOf(FILES, ['--no-model', '-q']);
  folder = await mkdtemp(join(tmpdir(), 'kb-host-'));
  await symlink(built.site, join(folder, 'kb'));
  await writeFile(join(folder, 'index.html'), 'x');
});
afterEach(async () => {
  await page?.context().close();
  await server?.close();
});
after(async () => {
  await browser?.close();
  await built?.remove();
  if (folder) await rm(folder, { recursive: true });
});

async function open(body) {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title><link rel="icon" href="kb/assets/icon.svg">
<script type="module" src="kb/assets/kb-embed.js"></script></head><body>${body}</body></html>`;
  server = await serveFolder(folder, { extra: { 'host.html': html } });
  page = await openPage(browser);
  await page.goto(`${server.url}host.html`);
}
const source = (filters, doc) => `<kb-source lang="en" filters="${filters}" doc="source/${doc}"></kb-source>`;

test('a document is opened only if its tags and dates meet what is fixed', async () => {
  for (const [filters, seen, hidden] of [
    ['tag=public', ['open.md', 'plan.md.md'], ['draft.md', 'plan.md']],
    ['tag!=draft', ['open.md', 'plan.md.md'], ['draft.md', 'plan.md']],
    ['date>=2026-02-15', ['open.md'], ['draft.md', 'plan.md', 'plan.md.md']],
    ['tag=draft; date<=2026-02-15', ['draft.md'], ['open.md', 'plan.md']],
    ['path=plan; tag=public', ['plan.md.md'], ['plan.md', 'open.md']],
  ]) {
    await open([...seen, ...hidden].map((doc) => source(filters, doc)).join(''));
    for (const [n, doc] of [...seen, ...hidden].entries()) {
      const element = page.locator('kb-source').nth(n);
      await element.locator('.reader h1').first().waitFor();
      assert.equal(await element.locator('.reader .prose').count(), n < seen.length ? 1 : 0, `${filters}: ${doc}`);
    }
    assert.deepEqual(page.problems, []);
    await page.context().close();
    await server.close();
  }
});

test('neither a link in a document nor an address leads to one that is hidden', async () => {
  await open(`<kb-search lang="en" filters="tag=public"></kb-search>${source('tag=public', 'open.md')}`);
  await page.locator('kb-search #q').fill('lighthouse');
  await page.locator('kb-search .hit').first().waitFor();
  const documents = await page.locator('kb-search .hit').evaluateAll((items) => items.map((item) => item.dataset.document));
  assert.deepEqual(documents.sort(), ['source/open.md', 'source/plan.md.md']);
  await page.locator('kb-source .prose a').click();
  await page.locator('kb-source .reader .notice').waitFor();
  assert.equal((await page.locator('kb-source').innerText()).includes('keeper'), false);
  assert.deepEqual(page.problems, []);
});
