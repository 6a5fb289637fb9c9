// What is in the knowledge base: its documents, one shelf a collection.

import { el } from './dom.js';
import { href as pageHref } from './routes.js';

/** Documents on a shelf before "show all". */
const FIRST = 24;

/**
 * @param {HTMLElement} root
 * @param {any} info as kb-wasm's `Info` @param {import('../i18n/index.js').Strings} strings
 * @param {import('./routes.js').Href} [href]
 */
export function library(root, info, strings, href = pageHref) {
  const shelves = info.collections.map(({ name, title }) => {
    const documents = info.documents.filter((doc) => doc.collection === name);
    const entries = (from, to) => documents.slice(from, to).map((doc) => el('li', {}, el('a', {
      href: href({ doc: `${doc.collection}/${doc.path}` }), title: doc.path, lang: doc.lang === 'other' ? undefined : doc.lang,
    }, doc.title)));
    const list = el('ul', {}, ...entries(0, FIRST));
    const more = el('button', { type: 'button', class: 'button', onclick: () => {
      list.append(...entries(FIRST, documents.length));
      list.children[FIRST]?.querySelector('a')?.focus();
      more.remove();
    } }, strings.library.more(documents.length));
    return el('section', { class: 'shelf', 'aria-label': title ?? name },
      el('div', { class: 'shelf-head' }, el('h2', {}, title ?? name), el('span', {}, strings.library.documents(documents.length))),
      list, documents.length > FIRST ? more : '');
  });
  root.replaceChildren(...shelves);
}

/** Tags that are offered, the most frequent. */
const TAGS = 12;

/** @typedef {{ collection: string, lang: string, tag: string }} Chosen each '' for all */

/** Nothing narrowed down. @type {Chosen} */
export const ALL = { collection: '', lang: '', tag: '' };

/**
 * The row of collections, languages and tags above the results; what there is only one of is not offered.
 * @param {HTMLElement} root @param {any} info @param {Chosen} chosen
 * @param {import('../i18n/index.js').Strings} strings @param {(chosen: Chosen) => void} onChoose
 */
export function facets(root, info, chosen, strings, onChoose) {
  const pill = (label, pressed, data, next) => el('button', { type: 'button', class: 'scope', 'aria-pressed': String(pressed), ...data, onclick: () => onChoose(next) }, ...[label].flat());
  const langs = [...new Set(info.documents.map(({ lang }) => lang))].filter((lang) => strings.langs[lang]).sort();
  const collections = info.collections.length < 2 ? [] : [
    pill(strings.search.everywhere, chosen.collection === '', { 'data-scope': '' }, { ...chosen, collection: '' }),
    ...info.collections.map(({ name, title, documents }) => pill(title ?? name, name === chosen.collection, { 'data-scope': name, title: strings.library.documents(documents) }, { ...chosen, collection: name })),
  ];
  // A language is switched on and, pressed again, off.
  const languages = langs.length < 2 ? [] : langs.map((lang) => pill(strings.langs[lang], lang === chosen.lang, { 'data-lang': lang }, { ...chosen, lang: lang === chosen.lang ? '' : lang }));
  const tags = info.tags.slice(0, TAGS).map(({ name, documents }) => pill([name, ' ', el('span', { class: 'scope-count' }, String(documents))], name === chosen.tag, { 'data-tag': name, title: strings.library.documents(documents) }, { ...chosen, tag: name === chosen.tag ? '' : name }));
  const group = (label, pills) => (pills.length ? el('div', { class: 'scope-group', role: 'group', 'aria-label': label }, ...pills) : '');
  root.hidden = collections.length + languages.length + tags.length === 0;
  root.replaceChildren(group(strings.search.scopes, collections), group(strings.search.languages, languages), group(strings.search.tags, tags));
}
