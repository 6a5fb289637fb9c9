// Times kb_encoder and onnxruntime-web (wasm SIMD, one thread) in Chromium, the latter on what ../variants.py wrote.
//
//   npm ci && python3 ../variants.py MODEL_FOLDER VARIANTS
//   node bench.mjs --models VARIANTS --site SITE [--variants kb,f32,q4,int8] [--rounds 20] [--chromium PATH] [--out FILE]
//
// `kb` is our own encoder on the model of SITE, a folder that `kb-builder build` wrote; the others are onnxruntime-web's.
//
// Every variant gets a browser of its own. Prints one JSON document: milliseconds and bytes; `renderer_bytes_peak` is the
// page's process (Linux only, otherwise null), `cosine` the agreement with the reference vector.
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { serve } from "./server.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const REFERENCE = join(HERE, "..", "..", "reference", "e5-zh-en");
const CHECK = "mixed-2";
const LENGTHS = [8, 16, 32, 128];
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

const { values: options } = parseArgs({
  options: {
    models: { type: "string" },
    site: { type: "string" },
    variants: { type: "string", default: "kb,f32,q4,int8" },
    rounds: { type: "string", default: "20" },
    chromium: { type: "string", default: process.env.CHROMIUM ?? "/usr/bin/chromium" },
    out: { type: "string" },
  },
});
if (!options.models || !options.site) {
  console.error("--models: the folder that ../variants.py wrote; --site: a folder that kb-builder wrote");
  process.exit(2);
}

const dist = dirname(createRequire(import.meta.url).resolve("onnxruntime-web"));
const { version } = JSON.parse(await readFile(join(dist, "..", "package.json"), "utf8"));
const reference = JSON.parse(await readFile(`${REFERENCE}.json`, "utf8"));
const inputs = prepare(reference);
const server = await serve([
  ["/ort/", dist], ["/models/", resolve(options.models)], ["/site/", resolve(options.site)],
  ["/runtime/", join(HERE, "../../../prebuilt/runtime")], ["/", HERE],
]);
const report = { engine: `onnxruntime-web ${version}`, model: reference.model, threads: 1, variants: {} };
try {
  for (const name of options.variants.split(",")) report.variants[name] = await measure(name);
} finally {
  server.close();
}
const document = `${JSON.stringify(report, null, 1)}\n`;
if (options.out) await writeFile(options.out, document);
else process.stdout.write(document);

/** Inputs of exactly LENGTHS tokens, cut from the reference texts' own. */
function prepare({ texts }) {
  const body = texts.flatMap(({ ids }) => ids.slice(1, -1));
  const [first, last] = [texts[0].ids[0], texts[0].ids.at(-1)];
  const rows = LENGTHS.map((length) => [first, ...body.slice(0, length - 2), last]);
  return { rows, rounds: Number(options.rounds), check: texts.find(({ id }) => id === CHECK).ids };
}

/** The numbers of one variant, in a fresh browser. */
async function measure(name) {
  const browser = await chromium.launch({ executablePath: options.chromium, args: FLAGS });
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => console.error(`${name}: ${error.message}`));
    await page.goto(`${server.origin}/${name === "kb" ? "kb" : "page"}.html`);
    await page.waitForFunction(() => window.ready === true);
    const result = await page.evaluate((given) => window.measure(given), name === "kb"
      ? { texts: questions(), rounds: inputs.rounds, check: await referenceText() }
      : { url: `models/${name}.onnx`, ...inputs });
    const { vector, ...numbers } = result;
    return { ...numbers, renderer_bytes_peak: await peak(browser), cosine: await agreement(vector) };
  } finally {
    await browser.close();
  }
}

/** Questions of LENGTHS tokens: `query: ` with the special tokens makes five, each "the" one more. */
function questions() {
  return Object.fromEntries(LENGTHS.map((length) => [length, "the ".repeat(length - 5).trim()]));
}

/** The text whose vector is compared with onnxruntime's. */
async function referenceText() {
  const texts = JSON.parse(await readFile(join(dirname(REFERENCE), "texts.json"), "utf8"));
  return texts.find(({ id }) => id === CHECK).text;
}

/** Largest resident size, over its life, of the browser's biggest page process. */
async function peak(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const sizes = await Promise.all(processInfo.filter(({ type }) => type === "renderer").map(async ({ id }) => {
    const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
    return 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
  }));
  return Math.max(0, ...sizes) || null;
}

/** Cosine of `vector` with the reference vector of the same text. */
async function agreement(vector) {
  const row = reference.texts.findIndex(({ id }) => id === CHECK);
  const data = await readFile(`${REFERENCE}.f32`);
  const dot = vector.reduce((sum, value, index) => sum + value * data.readFloatLE(4 * (row * reference.dim + index)), 0);
  return Number(dot.toFixed(6));
}
