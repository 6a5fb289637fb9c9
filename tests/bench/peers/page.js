// What runs in Chromium: builds an index or opens one, asks questions, and times each of them.

/** Asks everything `rounds` times. A question that makes the engine fail has no results. */
async function askAll(questions, rounds, search) {
  const found = [];
  const rows = [];
  let failed = 0;
  for (let round = 0; round < rounds; round += 1) {
    const times = [];
    for (const text of questions) {
      const begun = performance.now();
      const result = await Promise.resolve().then(() => search(text)).catch((error) => {
        if (round === 0) failed += 1;
        console.log(`failed on "${text}": ${error}`);
        return [];
      });
      times.push(performance.now() - begun);
      if (round === 0) found.push(result);
    }
    rows.push(times);
  }
  return { found, times: rows, failed };
}

const module = (engine) => import(`/engines/${engine}.js`);
const json = async (url) => (await fetch(url)).json();
const text = async (url) => (await fetch(url)).text();

/** An engine that indexes in the page. `save`: also gives the index as it would be published, with and without the texts. */
export async function inPage({ engine, set, variant, rounds, save }) {
  const { build, load } = await module(engine);
  const { docs, questions } = await json(`/sets/${set}.json`);
  const index = await build(docs, { variant, store: Boolean(save) });
  const answers = await askAll(questions, rounds, index.search);
  if (!save) return answers;
  const saved = { text: await index.save(), ranking: await (await build(docs, { variant, store: false })).save() };
  for (const [kind, bytes] of Object.entries(saved)) {
    const again = await load(bytes, { variant, store: kind === "text" });
    for (const [i, question] of questions.slice(0, 20).entries()) {
      const found = await again.search(question);
      if (JSON.stringify(found) !== JSON.stringify(answers.found[i])) throw new Error(`${engine}: the saved index answers "${question}" otherwise`);
    }
  }
  return { ...answers, saved };
}

export async function pagefind({ set, rounds }) {
  const { questions } = await json(`/sets/${set}.json`);
  const engine = await (await module("pagefind")).open(`/pagefind/${set}/`);
  await engine.search("a");
  const ranked = await askAll(questions, rounds, engine.search);
  const shown = await askAll(questions, rounds, async (question) => engine.show(await engine.search(question)));
  return { ...ranked, found: shown.found.map((results) => results.map(engine.id)), shown: shown.times };
}

export async function kb({ set, rounds, meaning }) {
  const { questions } = await json(`/sets/${set}.json`);
  const engine = await (await module("kb")).open(`/sites/${set}/`, meaning);
  const { times, failed } = await askAll(questions, rounds, engine.search);
  return { times, failed, embedding: meaning ? (await askAll(questions, rounds, engine.embed)).times : undefined };
}

/** A first visit with one question. Calls `mark` when the ranking is there, when the texts are, and when the model is. */
export async function visit({ engine, set, variant, kind, question, meaning }, mark) {
  const begun = performance.now();
  const reached = (name) => mark(name, performance.now() - begun);
  if (engine === "kb") {
    const opened = await (await module("kb")).open(`/sites/${set}/`, false);
    const response = await opened.search(question);
    await reached("ranking");
    await opened.show(question, response);
    await reached("text");
    if (!meaning) return;
    await opened.useMeaning();
    await reached("meaning");
  } else if (engine === "pagefind") {
    const opened = await (await module("pagefind")).open(`/pagefind/${set}/`);
    const results = await opened.search(question);
    await reached("ranking");
    await opened.show(results);
    await reached("text");
  } else {
    const [{ load }, saved] = await Promise.all([module(engine), text(`/indexes/${set}/${engine}-${kind}.json`)]);
    await (await load(saved, { variant, store: kind === "text" })).search(question);
    await reached(kind);
  }
}
