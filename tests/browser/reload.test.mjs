// A page that is served while its documents are watched reloads itself after a build, within the page's own policy.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { launch, openPage } from './support/browser.mjs';
import { program } from './support/site.mjs';

let browser;
let folder;
/** @type {import('node:child_process').ChildProcess | undefined} */
let watch;
/** @type {string} */
let url;

before(async () => {
  browser = await launch();
  folder = await mkdtemp(join(tmpdir(), 'kb-watch-'));
  await mkdir(join(folder, 'notes'));
  await writeFile(join(folder, 'notes/animals.md'), '# Animals\n\nA zebra has stripes.\n');
  const args = ['watch', 'notes', '--no-model', '--interval', '0.5', '--serve', '--port', '0', '--base', '/notes/', '--json'];
  const child = spawn(program(), args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  watch = child;
  process.once('exit', () => child.kill());
  url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line);
      if (event.event === 'serving') resolve(event.address);
    });
    child.once('exit', (code) => reject(new Error(`kb-builder watch ended with ${code}`)));
  });
});
after(async () => {
  watch?.removeAllListeners('exit');
  watch?.kill();
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

test('an edit is found in the page without a hand, and the question stays', async () => {
  const page = await openPage(browser);
  await page.goto(`${url}?q=zebra`);
  await page.locator('.results a').first().waitFor();
  await writeFile(join(folder, 'notes/animals.md'), '# Animals\n\nA zebra has stripes. So has an okapi.\n');
  await page.waitForFunction(() => document.querySelector('.results')?.textContent?.includes('okapi'), undefined, { timeout: 60_000 });
  assert.equal(new URL(page.url()).searchParams.get('q'), 'zebra');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
