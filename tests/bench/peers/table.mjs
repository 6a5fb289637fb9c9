// The report as Markdown.

const row = (cells) => `| ${cells.join(" | ")} |`;
const table = (head, rows) => [row(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(row)].join("\n");
const score = (value) => (value === undefined ? "–" : value.toFixed(3).replace(/^0/, ""));
const ms = (value) => (value === undefined ? "–" : value < 0.05 ? "< 0.1" : value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en"));
const kB = (value) => (value === undefined ? "–" : Math.round(value / 1000).toLocaleString("en"));

const NAMES = { minisearch: "MiniSearch", orama: "Orama", flexsearch: "FlexSearch", pagefind: "Pagefind" };

export function markdown({ versions, quality, unanswered, times, visits }) {
  const named = (engine) => (NAMES[engine] ? `${NAMES[engine]} ${versions[engine]}` : engine);
  const engines = Object.keys(NAMES).filter((engine) => quality.some((set) => set[engine]));
  const parts = [];
  if (quality.length) {
    parts.push(table(
      ["set", "questions", "kb-builder: words", "words and meaning", ...engines.map((engine) => (engine === "pagefind" ? named(engine) : `${named(engine)}: default, for the language`))],
      quality.map((set) => [
        set.name, set.questions, score(set.kb?.lexical), score(set.kb?.hybrid),
        ...engines.map((engine) => ["default", set.lang].map((variant) => set[engine]?.[variant]).filter((value) => value !== undefined).map(score).join(", ")),
      ]),
    ));
    parts.push(table(["engine", "questions without any result", "questions that failed"], Object.entries(unanswered).map(([engine, { asked, none, failed }]) => [
      engine.replace(/^\w+/, (name) => NAMES[name] ?? name), `${none} of ${asked}`, failed,
    ])));
  }
  for (const [set, { docs, rows }] of Object.entries(times)) {
    parts.push(table([`${set}, ${docs} documents: ms for a question`, "median", "p95", "median of the first time"], rows.map(({ name, again, first }) => [
      name.replace(/^\w+/, (engine) => NAMES[engine] ?? engine), ms(again.median), ms(again.p95), ms(first.median),
    ])));
  }
  for (const [set, rows] of Object.entries(visits)) {
    parts.push(table([`${set}: kB before the first results`, "code", "index, ranking only", "index and texts of ten results", "ms until then, from this machine"], rows.map(({ name, code, ranking, text, ms: time }) => [
      name.replace(/^\w+/, (engine) => NAMES[engine] ?? engine), kB(code), kB(ranking), kB(text), ms(time),
    ])));
  }
  return `${parts.join("\n\n")}\n`;
}
