// How soon a reader can type, how soon the first results stand there, and what typing costs: the page beside Pagefind.
//
//     node bench.mjs --site SITE [--lang zh] [--query 最短路] [--rounds 3] [--waterfall] [--visits] [--chromium PATH]
//
// With --visits typing on an idle page is left out. SITE is a folder that `kb-builder build` wrote, with its originals. Prints one JSON object.

import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { pagefindSite } from './pages.mjs';
import { publicKeyHash, serve } from './server.mjs';

const { values } = parseArgs({ options: {
  site: { type: 'string' }, lang: { type: 'string', default: 'en' }, query: { type: 'string', default: 'branch' }, rounds: { type: 'string', default: '3' },
  waterfall: { type: 'boolean', default: false }, visits: { type: 'boolean', default: false },
  chromium: { type: 'string', default: process.env.CHROME ?? '/usr/bin/chromium' },
} });
if (!values.site) throw new Error('--site is missing');
const rounds = Number(values.rounds);

/** Slow 4G as the tools of browsers define it: 1.6 Mbit/s, 150 ms there and back. */
const SLOW = { latency: 150, rate: 1.6e6 / 8 };
/** Who waits for whom: what was asked for until the first result, in milliseconds. */
function waterfall({ log, typing, first }) {
  const number = (value) => (value === undefined ? '' : String(Math.round(value))).padStart(6);
  console.error(` asked  first   sent  bytes   (typing ${Math.round(typing)}, first result ${Math.round(first)})`);
  for (const { path, bytes, asked, first: begun, sent } of log) console.error(`${number(asked)} ${number(begun)} ${number(sent)} ${number(bytes)}  ${path}`);
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** Where each side has its box, and whether its list shows what was found for a query. */
const SIDES = {
  ours: { box: '#q', shown: (query) => /** @type {HTMLElement} */ (document.querySelector('[data-results]')).dataset.question === query && document.querySelector('.hit') !== null },
  // Before that it shows grey lines of the same class.
  pagefind: { box: '.pagefind-ui__search-input', shown: () => document.querySelector('.pagefind-ui__result-link') !== null },
};

const browser = await chromium.launch({ executablePath: values.chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', `--ignore-certificate-errors-spki-list=${publicKeyHash}`] });

/** One visit with an empty cache: a reader who types the query letter by letter as soon as the box takes it. */
async function visit(server, side, { network, cpu }) {
  const context = await browser.newContext({ locale: values.lang === 'zh' ? 'zh-CN' : 'en-GB', serviceWorkers: 'block' });
  const page = await context.newPage();
  if (cpu > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: cpu });
  server.network(network);
  const begun = performance.now();
  await page.goto(server.url, { waitUntil: 'commit' });
  await page.waitForSelector(side.box, { state: 'visible', timeout: 120_000 });
  await page.click(side.box);
  await page.keyboard.insertText(values.query[0]);
  await page.waitForFunction((box) => /** @type {any} */ (document.querySelector(box))?.value.length > 0, side.box, { polling: 'raf' });
  const typing = performance.now() - begun;
  for (const letter of [...values.query].slice(1)) await page.keyboard.insertText(letter);
  await page.waitForFunction(side.shown, values.query, { timeout: 40_000, polling: 'raf' });
  const done = { typing, first: performance.now() - begun, ...server.counted, log: server.log };
  await context.close();
  // What was still on its way for this visit must not slow the next one down.
  server.network(undefined);
  await new Promise((resolve) => setTimeout(resolve, 500));
  return done;
}

/** Queries one after the other on an idle page: from the last letter to the painted list, and tasks that held the page up. */
async function typing(url, side, { cpu, meaning, queries }) {
  const context = await browser.newContext({ locale: values.lang === 'zh' ? 'zh-CN' : 'en-GB', serviceWorkers: 'block' });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await page.addInitScript(() => {
    const w = /** @type {any} */ (window);
    w.longTasks = [];
    new PerformanceObserver((list) => w.longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  });
  if (!meaning) await page.addInitScript(() => localStorage.setItem('kb:/:meaning', 'off'));
  await page.goto(url);
  await page.waitForSelector(`[data-status][data-words="ready"]${meaning ? '[data-meaning="ready"]' : ''}`, { state: 'attached', timeout: 120_000 });
  await page.waitForTimeout(2500);
  if (cpu > 1) await cdp.send('Emulation.setCPUThrottlingRate', { rate: cpu });
  await page.evaluate(() => (/** @type {any} */ (window).longTasks.length = 0));
  const times = [];
  for (const query of queries) {
    await page.fill(side.box, '');
    await page.waitForTimeout(150);
    times.push(await page.evaluate(async ([box, text, by]) => {
      const input = /** @type {HTMLInputElement} */ (document.querySelector(box));
      const root = /** @type {HTMLElement} */ (document.querySelector('[data-results]'));
      input.value = text;
      const begun = performance.now();
      input.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await new Promise((resolve) => {
        const look = () => (root.dataset.question === text && root.dataset.by === by && !root.hidden ? requestAnimationFrame(() => setTimeout(resolve, 0)) : setTimeout(look, 1));
        look();
      });
      return performance.now() - begun;
    }, [side.box, query, meaning ? 'meaning' : 'words']));
  }
  // Letter by letter, as fast as people type.
  for (const query of queries.slice(0, 4)) {
    await page.fill(side.box, '');
    for (const letter of query) {
      await page.keyboard.insertText(letter);
      await page.waitForTimeout(70);
    }
    await page.waitForTimeout(200);
  }
  const longTasks = await page.evaluate(() => /** @type {any} */ (window).longTasks);
  await context.close();
  return { median: median(times), worst: Math.max(...times), longTasks: longTasks.map(Math.round) };
}

const folder = await mkdtemp(join(tmpdir(), 'kb-bench-page-'));
const pages = await pagefindSite(values.site, folder);
const servers = { ours: await serve(values.site), pagefind: await serve(folder, { lang: values.lang === 'zh' ? 'zh-Hans' : values.lang }) };
const result = { pages, query: values.query, visits: {}, typing: {} };
try {
  for (const [name, conditions] of Object.entries({ 'slow 4G': { network: SLOW, cpu: 1 }, 'slow 4G, CPU ×4': { network: SLOW, cpu: 4 } })) {
    // In turn, so that whatever else the machine does hits both.
    const all = { ours: [], pagefind: [] };
    const sides = /** @type {const} */ (['ours', 'pagefind']);
    for (let i = 0; i < rounds; i += 1) {
      for (const side of sides) all[side].push(await visit(servers[side], SIDES[side], conditions));
    }
    for (const side of sides) {
      if (values.waterfall) waterfall(all[side][0]);
      const of = (key) => Math.round(median(all[side].map((each) => each[key])));
      (result.visits[name] ??= {})[side] = { typing: of('typing'), first: of('first'), bytes: of('bytes'), requests: of('requests') };
    }
    result.visits[name].ratios = all.ours.map(({ first }, i) => Number((first / all.pagefind[i].first).toFixed(2)));
  }
  const queries = values.lang === 'zh' ? ['最短路', '线段树', '动态规划', '字符串匹配', '二分查找', '并查集', '拓扑排序', '哈希表'] : ['branch', 'undo a commit', 'merge conflict', 'rebase', 'large files', 'index', 'remote', 'history'];
  const hasModel = await access(join(values.site, 'model/model.json')).then(() => true, () => false);
  for (const cpu of values.visits ? [] : [1, 4]) {
    result.typing[`words, CPU ×${cpu}`] = await typing(servers.ours.url, SIDES.ours, { cpu, meaning: false, queries });
    if (hasModel) result.typing[`meaning, CPU ×${cpu}`] = await typing(servers.ours.url, SIDES.ours, { cpu, meaning: true, queries });
  }
  console.log(JSON.stringify(result, null, 1));
} finally {
  await browser.close();
  servers.ours.close();
  servers.pagefind.close();
  await rm(folder, { recursive: true });
}
