// The page's JavaScript against its own annotations and the runtime's declarations (prebuilt/runtime/*.d.ts), and
// TypeScript pages against what a site publishes for them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));

/** What tsc says. @param {string[]} args */
const tsc = (...args) => new Promise((resolve) => {
  execFile(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), ...args], { cwd: here }, (_, stdout, stderr) => resolve(stdout + stderr));
});

test('tsc has nothing to say', async () => {
  assert.equal(await tsc('--project', '.'), '');
});

const RIGHT = `
import type { Hit, KbElementAttributes, KbResults } from './kb-embed.js';
const box = document.createElement('kb-search');
box.setAttribute('theme', 'dark');
box.addEventListener('kb-results', (event) => {
  const { hits, meaning }: KbResults = event.detail;
  const titles: string[] = hits.map((hit) => hit.headingPath.at(-1) ?? hit.title);
  console.log(titles, meaning, hits[0]?.site, hits[0]?.excerpt.marks[0]?.start);
});
box.addEventListener('kb-open', (event) => { if (event.detail.doc.startsWith('own/')) event.preventDefault(); });
box.addEventListener('click', (event) => console.log(event.clientX));
const modal = document.querySelector('kb-modal');
if (modal && !modal.isOpen) modal.open();
const weights: number[] = document.querySelectorAll('kb-ask')[0]!.bundles.map(({ weight }) => weight);
const source: KbElementAttributes['kb-source'] = { doc: 'course/03-undo.md', anchor: 'the-safety-net' };
const first = (hit: Hit): number => hit.vectorScore ?? hit.score;
document.createElement('kb-settings').wake({ meaning: false });
export { weights, source, first };
`;

/** One mistake each, and the number of tsc's message for it. @type {[string, string][]} */
const WRONG = [
  ["document.createElement('kb-modal').show();", 'TS2551|TS2339'],
  ["document.createElement('kb-search').setAttribute('theme', 'purple');", 'TS2769'],
  ["document.createElement('kb-search').setAttribute('sorce', 'kb/');", 'TS2769'],
  ["document.createElement('kb-search').addEventListener('kb-result', () => {});", 'TS2769'],
  ["document.createElement('kb-search').addEventListener('kb-results', (event) => event.detail.hits[0]?.heading);", 'TS2551|TS2339|TS2769'],
  ["document.createElement('kb-status').isOpen;", 'TS2339'],
  ["document.createElement('kb-modal').isOpen = true;", 'TS2540'],
  ["const a: import('./kb-embed.js').KbElementAttributes['kb-source'] = { anchor: 'x' };", 'TS2741'],
  ["const n: number = document.createElement('kb-ask').site;", 'TS2322'],
];

test('a TypeScript page: right uses pass, each wrong one is an error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kb-types-'));
  try {
    await copyFile(join(root, 'www/assets/kb-embed.d.ts'), join(folder, 'kb-embed.d.ts'));
    await copyFile(join(root, 'kb-wasm/src/types.d.ts'), join(folder, 'kb-types.d.ts'));
    await writeFile(join(folder, 'right.ts'), RIGHT);
    await Promise.all(WRONG.map(([line], n) => writeFile(join(folder, `wrong${n}.ts`), `import type {} from './kb-embed.js';\n${line}\nexport {};\n`)));
    const flags = ['--strict', '--noEmit', '--target', 'es2023', '--lib', 'es2023,dom,dom.iterable', '--module', 'esnext', '--moduleResolution', 'bundler'];
    assert.equal(await tsc(...flags, join(folder, 'right.ts'), join(folder, 'kb-embed.d.ts')), '', 'without skipLibCheck: the declarations themselves are right too');
    const said = await tsc(...flags, ...WRONG.map((_, n) => join(folder, `wrong${n}.ts`)));
    for (const [n, [line, expected]] of WRONG.entries()) {
      assert.match(said, new RegExp(`wrong${n}\\.ts\\(2,\\d+\\): error (${expected})`), `${line}\n${said}`);
    }
    assert.equal(said.match(/: error TS/g)?.length, WRONG.length, said);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
