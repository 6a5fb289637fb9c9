// What the pages of the comparison are served from: the sets, the engines' code, Pagefind's indexes, our own sites.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import * as pagefind from "pagefind";

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGES = { minisearch: "minisearch", orama: "@orama/orama", flexsearch: "flexsearch", pagefind: "pagefind" };

/** The installed version of each engine. */
export async function versions() {
  const all = {};
  for (const [engine, name] of Object.entries(PACKAGES)) {
    all[engine] = JSON.parse(await readFile(join(HERE, "node_modules", name, "package.json"), "utf8")).version;
  }
  return all;
}

/** Each engine as one minified module, as a bundler would give it to a page. */
export async function bundle(work) {
  await build({
    entryPoints: ["page.js", ...["minisearch", "orama", "flexsearch", "pagefind", "kb"].map((name) => `engines/${name}.js`)],
    absWorkingDir: HERE,
    outdir: work,
    outbase: ".",
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    external: ["/engines/*"],
    logLevel: "warning",
  });
}

/** A set as the page reads it; a document's id is its position. */
export async function writeSet(work, set) {
  await mkdir(join(work, "sets"), { recursive: true });
  const docs = set.docs.map(({ title, text }, id) => ({ id, title, text }));
  await writeFile(join(work, "sets", `${set.name}.json`), JSON.stringify({ docs, questions: set.questions.map(({ text }) => text) }));
}

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** A page of HTML for each document, through Pagefind's own interface for Node. */
export async function indexPagefind(work, set) {
  const must = ({ errors, ...rest }) => {
    if (errors.length) throw new Error(`pagefind: ${errors.join("; ")}`);
    return rest;
  };
  const { index } = must(await pagefind.createIndex());
  for (const [id, { title, text }] of set.docs.entries()) {
    const body = text.split(/\n{2,}/).map((part) => `<p>${escape(part)}</p>`).join("\n");
    const content = `<!doctype html><html lang="${set.lang}"><head><meta charset="utf-8"><title>${escape(title)}</title></head><body><main><h1>${escape(title)}</h1>\n${body}</main></body></html>`;
    must(await index.addHTMLFile({ url: `/${id}/`, content }));
  }
  must(await index.writeFiles({ outputPath: join(work, "pagefind", set.name) }));
  await index.deleteIndex();
}

export const closePagefind = () => pagefind.close();

const run = promisify(execFile);

/** Runs kb-builder and returns what it printed. */
export const kb = async (program, ...args) => (await run(program, args, { maxBuffer: 1 << 28 })).stdout;

/** A site of our own from a Markdown file for each document. */
export async function buildSite(work, set, { program, cache, meaning }) {
  const source = join(work, "markdown", set.name);
  await mkdir(source, { recursive: true });
  for (const [id, { title, text }] of set.docs.entries()) {
    await writeFile(join(source, `${String(id).padStart(5, "0")}.md`), `# ${title}\n\n${text}\n`);
  }
  const site = join(work, "sites", set.name);
  if (existsSync(site)) throw new Error(`${site} is there already`);
  await mkdir(dirname(site), { recursive: true });
  await kb(program, "build", source, "--out", site, "--quiet", "--no-originals", ...(meaning ? cache : ["--no-model"]));
}
