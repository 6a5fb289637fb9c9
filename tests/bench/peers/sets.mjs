// Test sets as `kb-builder eval` reads them, and nDCG@10 with linear gain.

import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const DEPTH = 10;

const lines = async (file) => (await readFile(file, "utf8")).split("\n").filter(Boolean);
const records = async (file) => (await lines(file)).map((line) => JSON.parse(line));

/** Names of the test sets in a folder. */
export const namesOf = (folder) => (existsSync(folder) ? readdirSync(folder) : []).filter((name) => existsSync(join(folder, name, "qrels.tsv"))).sort();

/** One test set: its passages, its questions, and which passages answer which question. `lang` is the passages' language. */
export async function readSet(folder, name) {
  const path = join(folder, name);
  const docs = await records(join(path, "corpus.jsonl"));
  const questions = await records(join(path, "queries.jsonl"));
  const gains = new Map();
  for (const line of (await lines(join(path, "qrels.tsv"))).slice(1)) {
    const [question, doc, gain] = line.split("\t");
    if (!gains.has(question)) gains.set(question, new Map());
    gains.get(question).set(doc, Number(gain));
  }
  return { name, path, docs, questions, gains, lang: docs[0].lang === "zh" ? "zh" : "en" };
}

/** Mean nDCG@10 over all questions; one without an answer in `run` (question → ids, best first) counts 0. */
export function ndcg(set, run) {
  const discounted = (gains) => gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);
  const scores = set.questions.map(({ id }) => {
    const gains = set.gains.get(id) ?? new Map();
    // A document counts once, at its best rank.
    const found = [...new Set(run.get(id) ?? [])].slice(0, DEPTH);
    const ideal = [...gains.values()].sort((a, b) => b - a).slice(0, DEPTH);
    return ideal.length ? discounted(found.map((doc) => gains.get(doc) ?? 0)) / discounted(ideal) : 0;
  });
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

/** A ranking as a file: question, passage, rank, with tabs. */
export const runText = (run) => [...run].flatMap(([question, docs]) => docs.map((doc, i) => `${question}\t${doc}\t${i + 1}\n`)).join("");

/** The reverse of {@link runText}, for whatever stands in the third column. */
export async function readRun(file) {
  const run = new Map();
  for (const line of await lines(file)) {
    const [question, doc] = line.split("\t");
    if (!run.has(question)) run.set(question, []);
    run.get(question).push(doc);
  }
  return run;
}

/** The value under which `share` of the others lie. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
}
