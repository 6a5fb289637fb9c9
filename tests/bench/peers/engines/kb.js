// A knowledge base in the page: the engine of a built site, past the site's own page.

/** @param {string} site with a slash at the end @param {boolean} meaning whether the model is to be loaded */
export async function open(site, meaning) {
  const { Engine } = await import(`${site}assets/engine/client.js`);
  const engine = new Engine(new URL("kb/", new URL(site, location.href)), { wantsMeaning: meaning });
  await engine.start();
  if (engine.state.words !== "ready" || (meaning && engine.state.meaning !== "ready")) throw engine.state.error ?? new Error("the engine did not start");
  const query = (text) => ({ text, k: 10, mode: meaning ? "hybrid" : "lexical", collections: [], filters: [] });
  const ask = (text) => (meaning ? engine.searchMeaning(query(text)) : engine.searchWords(query(text)));
  return {
    search: ask,
    /** Loads the text that excerpts need, and asks again. */
    show: async (text, { missing }) => {
      if (!missing.length) return;
      await engine.loadText(missing);
      await ask(text);
    },
    embed: (text) => engine.similarities(text, []),
    useMeaning: async () => {
      await engine.useMeaning();
      if (engine.state.meaning !== "ready") throw engine.state.error ?? new Error("the model was not loaded");
    },
  };
}
