// Sites to test: the demo, and small ones built from texts in a test.

import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** The kb-builder program: `KB_BUILDER`, or the last release build of this clone. */
export function program() {
  const places = [process.env.KB_BUILDER, join(process.env.CARGO_TARGET_DIR ?? join(root, 'target'), 'release/kb-builder')];
  const found = places.find((path) => path && existsSync(path));
  if (!found) throw new Error('no kb-builder: set KB_BUILDER, or run `cargo build --release -p kb-builder`');
  return found;
}

/** Runs kb-builder and returns what it printed. @param {string[]} args */
export async function kb(...args) {
  const { stdout } = await run(program(), args, { cwd: root, maxBuffer: 64 << 20 });
  return stdout;
}

/** The default model in this clone. */
export const model = join(root, 'prebuilt/models/multilingual-e5-small-zh-en-q4');

/** The demo's site: `KB_SITE`, or built here from `docs/`. Call `remove` at the end. */
export async function demoSite() {
  if (process.env.KB_SITE) return { site: process.env.KB_SITE, remove: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'kb-demo-'));
  const site = join(folder, 'site');
  await kb('build', '--config', join(root, 'docs/kb.toml'), '--out', site);
  return { site, remove: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * A site built from the given files.
 * @param {Record<string, string>} files text by path
 * @param {string[]} [args] further arguments of `kb-builder build`
 */
export async function siteOf(files, args = []) {
  const folder = await mkdtemp(join(tmpdir(), 'kb-site-'));
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, 'source', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const site = join(folder, 'site');
  await kb('build', join(folder, 'source'), '--out', site, ...args);
  return { site, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Starts `kb-builder serve` on a free port. @param {string} site */
export async function serve(site) {
  const child = spawn(program(), ['serve', site, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill());
  const url = await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
      const found = /https?:\/\/\S+/.exec(said);
      if (found) resolve(found[0].replace(/\/?$/, '/'));
    });
    child.on('exit', (code) => reject(new Error(`kb-builder serve ended with ${code}: ${said}`)));
  });
  return {
    url,
    close: () => new Promise((resolve) => {
      child.removeAllListeners('exit');
      child.on('exit', resolve);
      child.kill();
    }),
  };
}
