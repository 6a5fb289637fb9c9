// MiniSearch in the page: both fields, default options. "zh" cuts Chinese with the browser's own segmenter.

import MiniSearch from "minisearch";

const segmenter = new Intl.Segmenter("zh", { granularity: "word" });
const words = (text) => [...segmenter.segment(text)].filter((part) => part.isWordLike).map((part) => part.segment);

const options = (variant, store) => ({
  fields: ["title", "text"],
  ...(store ? { storeFields: ["title", "text"] } : {}),
  ...(variant === "zh" ? { tokenize: words } : {}),
});
const searcher = (index) => ({
  search: (text) => index.search(text).slice(0, 10).map(({ id }) => id),
  save: () => JSON.stringify(index),
});

export function build(docs, { variant, store }) {
  const index = new MiniSearch(options(variant, store));
  index.addAll(docs);
  return searcher(index);
}

export const load = (saved, { variant, store }) => searcher(MiniSearch.loadJSON(saved, options(variant, store)));
