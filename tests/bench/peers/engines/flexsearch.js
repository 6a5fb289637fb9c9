// FlexSearch in the page: a document index over both fields, default options, the fields' results merged. By default
// every word of the question must be there, and titles come first. The variants ask with `suggest`, and of the texts only,
// which no set found worse than the merged list, and most found far better; "zh" has the encoder for Chinese too.

import { Charset, Document } from "flexsearch";

const empty = (variant, store) => new Document({
  document: { id: "id", index: ["title", "text"], ...(store ? { store: ["title", "text"] } : {}) },
  ...(variant === "zh" ? { encoder: Charset.CJK } : {}),
});
const searcher = (index, variant) => ({
  search: variant === "default"
    ? (text) => index.search(text, { limit: 10, merge: true }).slice(0, 10).map(({ id }) => id)
    : (text) => index.search(text, { limit: 10, pluck: "text", suggest: true }),
  save: async () => {
    const parts = [];
    await index.export((key, data) => void parts.push([key, data]));
    return JSON.stringify(parts);
  },
});
export function build(docs, { variant, store }) {
  const index = empty(variant, store);
  for (const doc of docs) index.add(doc);
  return searcher(index, variant);
}

export function load(saved, { variant, store }) {
  const index = empty(variant, store);
  for (const [key, data] of JSON.parse(saved)) index.import(key, data);
  return searcher(index, variant);
}
