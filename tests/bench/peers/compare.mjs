// Our search beside Pagefind, MiniSearch, Orama and FlexSearch: quality on test sets, time of a question, and bytes that a
// reader loads before the first results. All of it in one Chromium, one engine after the other.
//
//   npm ci
//   node compare.mjs --sets SETS --kb KB_BUILDER [--cache DIR] [--json FILE] [--runs DIR]
//
//   --only a,b       sets for the quality [all]; `none` leaves it out
//   --hybrid a,b     of these, sets that are also measured with words and meaning [all]; what is not in the cache is embedded
//   --time a,b       sets for time and bytes [anthropic-docs,react-headings-en]; `none` leaves them out
//   --meaning a,b    of these, sets whose site is built with the model [anthropic-docs]
//   --engines a,b    [kb,pagefind,minisearch,orama,flexsearch]
//   --rounds N       how often each question is timed; after the first round its best time counts [4]
//   --visits N       questions of a first visit [10]
//   --chromium PATH  [CHROME, or /usr/bin/chromium]
//
// SETS is a folder of test sets as `kb-builder eval` reads them. Every passage is one document with a title and a text. All
// engines index with their defaults; `for the language` is Intl.Segmenter in MiniSearch, the tokeniser for Mandarin and the
// English stemmer in Orama, `suggest` in the texts alone (and the encoder for Chinese) in FlexSearch. A question without results, or on which
// an engine fails, counts 0. Prints Markdown; --json writes everything, --runs the rankings.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { serveFolder } from "../../browser/support/static.mjs";
import { buildSite, bundle, closePagefind, indexPagefind, kb, versions, writeSet } from "./prepare.mjs";
import { namesOf, ndcg, quantile, readRun, readSet, runText } from "./sets.mjs";
import { markdown } from "./table.mjs";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
/** What each engine offers beyond its defaults, by the language of the documents. */
const VARIANTS = { minisearch: { zh: "Intl.Segmenter" }, orama: { en: "stemming", zh: "Mandarin" }, flexsearch: { en: "suggest, texts", zh: "suggest, texts, CJK" } };

const { values: options } = parseArgs({
  options: {
    sets: { type: "string" },
    kb: { type: "string" },
    cache: { type: "string" },
    only: { type: "string" },
    hybrid: { type: "string" },
    time: { type: "string", default: "anthropic-docs,react-headings-en" },
    meaning: { type: "string", default: "anthropic-docs" },
    engines: { type: "string", default: "kb,pagefind,minisearch,orama,flexsearch" },
    rounds: { type: "string", default: "4" },
    visits: { type: "string", default: "10" },
    chromium: { type: "string", default: process.env.CHROME ?? "/usr/bin/chromium" },
    json: { type: "string" },
    runs: { type: "string" },
  },
});
if (!options.sets || !options.kb) {
  console.error("--sets: a folder of test sets; --kb: the kb-builder program");
  process.exit(2);
}
const available = namesOf(options.sets);
if (!available.length) {
  console.log(`skipped: there are no test sets in ${options.sets}`);
  process.exit(0);
}
const chosen = (list) => (list === undefined ? available : list.split(",").filter((name) => {
  if (name !== "none" && !available.includes(name)) say(`skipped: there is no test set ${name}`);
  return available.includes(name);
}));
const qualityOf = chosen(options.only);
const hybridOf = chosen(options.hybrid);
const timesOf = chosen(options.time);
const meaningOf = chosen(options.meaning);
const has = (engine) => options.engines.split(",").includes(engine);
const IN_PAGE = ["minisearch", "orama", "flexsearch"].filter(has);
const cache = options.cache ? ["--cache-dir", resolve(options.cache)] : [];
const program = resolve(options.kb);
const [rounds, visitCount] = [Number(options.rounds), Number(options.visits)];

const work = await mkdtemp(join(tmpdir(), "kb-peers-"));
const report = { versions: await versions(), rounds, quality: [], unanswered: {}, times: {}, visits: {} };
let browser;
let server;
try {
  await bundle(work);
  const page = (lang) => `<!doctype html><html lang="${lang}"><meta charset="utf-8"><link rel="icon" href="data:,"><title>peers</title></html>`;
  server = await serveFolder(work, {
    extra: { "en.html": page("en"), "zh.html": page("zh") },
    // Isolation gives finer timers.
    headers: { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" },
  });
  browser = await chromium.launch({ executablePath: options.chromium, args: FLAGS });
  report.browser = `Chromium ${browser.version()}`;
  for (const name of available.filter((name) => qualityOf.includes(name) || timesOf.includes(name))) await measureSet(name);
} finally {
  await browser?.close();
  await server?.close();
  await closePagefind();
  await rm(work, { recursive: true, force: true });
}
process.stdout.write(markdown(report));
if (options.json) await writeFile(options.json, `${JSON.stringify(report, null, 1)}\n`);

function say(line) {
  console.error(line);
}

async function measureSet(name) {
  const set = await readSet(options.sets, name);
  const timed = timesOf.includes(name);
  say(`${name}: ${set.docs.length} documents, ${set.questions.length} questions`);
  await writeSet(work, set);
  const quality = { name, lang: set.lang, questions: set.questions.length };
  const rows = [];
  const keep = async (engine, variant, { found, failed, times }) => {
    const label = [engine, VARIANTS[engine]?.[variant]].filter(Boolean).join(", ");
    if (timed) rows.push(timing(label, times));
    if (!qualityOf.includes(name)) return;
    const run = new Map(set.questions.map(({ id }, i) => [id, found[i].map((position) => set.docs[position].id)]));
    await keepRun(name, label, run);
    (quality[engine] ??= {})[variant] = ndcg(set, run);
    countUnanswered(label, run, failed);
  };

  if (timed && has("kb")) {
    const meaning = meaningOf.includes(name);
    await buildSite(work, set, { program, cache, meaning });
    rows.push(timing("kb-builder, words", (await inChromium(set, "kb", { set: name, rounds, meaning: false })).times));
    if (meaning) {
      const both = await inChromium(set, "kb", { set: name, rounds, meaning: true });
      rows.push(timing("kb-builder, words and meaning", both.times), timing("kb-builder, of that the question's vector", both.embedding));
    }
  }
  if (has("pagefind")) {
    await indexPagefind(work, set);
    const found = await inChromium(set, "pagefind", { set: name, rounds: timed ? rounds : 1 });
    await keep("pagefind", "default", found);
    if (timed) rows.push(timing("pagefind, with the texts of ten results", found.shown));
  }
  for (const engine of IN_PAGE) {
    for (const variant of ["default", set.lang].filter((v) => v === "default" || VARIANTS[engine][v])) {
      const save = timed && variant === "default";
      const answers = await inChromium(set, "inPage", { engine, set: name, variant, rounds: timed ? rounds : 1, save });
      await keep(engine, variant, answers);
      if (!save) continue;
      await mkdir(join(work, "indexes", name), { recursive: true });
      for (const [kind, saved] of Object.entries(answers.saved)) await writeFile(join(work, "indexes", name, `${engine}-${kind}.json`), saved);
    }
  }
  if (timed) {
    report.times[name] = { docs: set.docs.length, rows };
    report.visits[name] = await visits(set);
  }
  if (!qualityOf.includes(name)) return;
  if (has("kb")) quality.kb = { lexical: await ours(set, "lexical") };
  if (has("kb") && hybridOf.includes(name)) quality.kb.hybrid = await ours(set, "hybrid");
  report.quality.push(quality);
  say(`  ${JSON.stringify(quality)}`);
}

/** Our own ranking by `kb-builder eval`, whose figure must be that of this scorer. */
async function ours(set, mode) {
  const file = join(work, `kb-${mode}.run`);
  const { ndcg10 } = JSON.parse(await kb(program, "eval", set.path, "--quiet", "--mode", mode, "--run-out", file, ...cache));
  const run = await readRun(file);
  const own = ndcg(set, run);
  if (Math.abs(own - ndcg10) > 1e-4) throw new Error(`${set.name}: nDCG@10 is ${own} here and ${ndcg10} in kb-builder`);
  await keepRun(set.name, `kb-${mode}`, run);
  const label = mode === "lexical" ? "kb-builder, words" : "kb-builder, words and meaning";
  countUnanswered(label, new Map(set.questions.map(({ id }) => [id, run.get(id) ?? []])), 0);
  return own;
}

async function keepRun(set, label, run) {
  if (!options.runs) return;
  await mkdir(options.runs, { recursive: true });
  await writeFile(join(options.runs, `${set}.${label.replace(/\W+/g, "-")}.run`), runText(run));
}

function countUnanswered(label, run, failed) {
  const sum = (report.unanswered[label] ??= { asked: 0, none: 0, failed: 0 });
  sum.asked += run.size;
  sum.none += [...run.values()].filter((docs) => !docs.length).length;
  sum.failed += failed;
}

/** Median and p95 over the questions: of the first round, and of each question's best time in the others. */
function timing(name, [first, ...others]) {
  const of = (times) => ({ median: quantile(times, 0.5), p95: quantile(times, 0.95) });
  return { name, first: of(first), again: of(first.map((time, i) => (others.length ? Math.min(...others.map((round) => round[i])) : time))) };
}

/** A page of its own, with nothing in any cache, in the language of the set. */
async function fresh(set, options = {}) {
  const context = await browser.newContext();
  if (options.savesData) await context.addInitScript(() => Object.defineProperty(navigator, "connection", { get: () => ({ saveData: true }) }));
  const page = await context.newPage();
  page.on("pageerror", (error) => say(`  ${error.message}`));
  await page.goto(`${server.url}${set.lang}.html`);
  return { page, close: () => context.close() };
}

/** Calls a function of page.js. */
async function inChromium(set, name, task) {
  const { page, close } = await fresh(set);
  try {
    say(`  ${[name, task.engine, task.variant].filter(Boolean).join(" ")}`);
    return await page.evaluate(async ([call, given]) => (await import("/page.js"))[call](given), [name, task]);
  } finally {
    await close();
  }
}

/** First visits: bytes that the server sent, and time, until ten results have their texts. */
async function visits(set) {
  const step = Math.max(1, Math.floor(set.questions.length / visitCount));
  const questions = set.questions.filter((_, i) => i % step === 0).slice(0, visitCount).map(({ text }) => text);
  const rows = [];
  for (const engine of ["kb", "pagefind", ...IN_PAGE].filter(has)) {
    const meaning = engine === "kb" && meaningOf.includes(set.name);
    const kinds = IN_PAGE.includes(engine) ? ["ranking", "text"] : [undefined];
    const reached = { ranking: [], text: [], meaning: [] };
    say(`  first visits: ${engine}`);
    for (const kind of kinds) {
      for (const question of questions) await visit(set, { engine, set: set.name, variant: "default", kind, question, meaning }, reached);
    }
    const median = (mark, value) => (reached[mark].length ? quantile(reached[mark].map(value), 0.5) : undefined);
    const line = (name, mark) => ({
      name, code: median(mark, (at) => at.code), ranking: mark === "text" ? median("ranking", (at) => at.index) : undefined,
      text: median(mark, (at) => at.index), ms: median(mark, (at) => at.ms),
    });
    rows.push(line(engine === "kb" ? "kb-builder, words" : engine, "text"));
    if (meaning) rows.push(line("kb-builder, words and meaning, with the model", "meaning"));
  }
  return rows;
}

/** One first visit. A browser that saves data loads nothing before it is needed. */
async function visit(set, task, reached) {
  const { page, close } = await fresh(set, { savesData: true });
  try {
    const before = new Map(server.sent);
    const mark = (name, ms) => {
      const sums = { ms, code: 0, index: 0 };
      for (const [path, bytes] of server.sent) {
        const kind = partOf(task.engine, path);
        if (kind) sums[kind] += bytes - (before.get(path) ?? 0);
      }
      reached[name].push(sums);
    };
    await page.exposeFunction("mark", mark);
    await page.evaluate(async (given) => (await import("/page.js")).visit(given, window.mark), task);
  } finally {
    await close();
  }
}

/** Whether a file is an engine's code or its index; the wrappers of this comparison are neither. */
function partOf(engine, path) {
  if (path.startsWith("indexes/")) return "index";
  if (IN_PAGE.includes(engine) && path === `engines/${engine}.js`) return "code";
  if (path.startsWith("pagefind/")) return /\.js$|\/wasm\./.test(path) ? "code" : "index";
  if (path.startsWith("sites/")) return path.includes("/assets/") ? "code" : "index";
  return undefined;
}
