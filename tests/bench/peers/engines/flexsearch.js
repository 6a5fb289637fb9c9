// FlexSearch in the page: a document index over both fields, default options, the fields' results merged. By default
// every word of the question must be there; the variants ask with `suggest`, and "zh" with the encoder for Chinese too.

import { Charset, Document } from "flexsearch";

const empty = (variant, store) => new Document({
  document: { id: "id", index: ["title", "text"], ...(store ? { store: ["title", "text"] } : {}) },
  ...(variant.startsWith("zh") ? { encoder: Charset.CJK } : {}),
});
const searcher = (index, suggest) => ({
  search: (text) => index.search(text, { limit: 10, merge: true, suggest }).slice(0, 10).map(({ id }) => id),
  save: async () => {
    const parts = [];
    await index.export((key, data) => void parts.push([key, data]));
    return JSON.stringify(parts);
  },
});
const suggests = (variant) => variant === "en" || variant === "zh";

export function build(docs, { variant, store }) {
  const index = empty(variant, store);
  for (const doc of docs) index.add(doc);
  return searcher(index, suggests(variant));
}

export function load(saved, { variant, store }) {
  const index = empty(variant, store);
  for (const [key, data] of JSON.parse(saved)) index.import(key, data);
  return searcher(index, suggests(variant));
}
