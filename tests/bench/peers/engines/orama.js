// Orama in the page: both fields, default options. "zh" is its own tokeniser for Mandarin, "en" its own English stemmer.

import { create, insertMultiple, load as restore, save, search } from "@orama/orama";
import { createTokenizer } from "@orama/tokenizers/mandarin";

const schema = { title: "string", text: "string" };

function empty(variant) {
  if (variant === "zh") return create({ schema, components: { tokenizer: createTokenizer() } });
  if (variant === "en") return create({ schema, components: { tokenizer: { language: "english", stemming: true } } });
  return create({ schema });
}
const searcher = (index) => ({
  search: async (term) => (await search(index, { term })).hits.map(({ id }) => Number(id)),
  save: () => JSON.stringify(save(index)),
});

export async function build(docs, { variant }) {
  const index = empty(variant);
  await insertMultiple(index, docs.map((doc) => ({ ...doc, id: String(doc.id) })));
  return searcher(index);
}

export function load(saved, { variant }) {
  const index = empty(variant);
  restore(index, JSON.parse(saved));
  return searcher(index);
}
