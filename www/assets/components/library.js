// What is in the knowledge base: its documents, one shelf a collection.

import { el } from './dom.js';
import { href } from './routes.js';

/** Documents on a shelf before "show all". */
const FIRST = 24;

/**
 * @param {HTMLElement} root
 * @param {any} info as kb-wasm's `Info` @param {import('../i18n/index.js').Strings} strings
 */
export function library(root, info, strings) {
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

/**
 * The row of collections above the results. Empty when there is only one.
 * @param {HTMLElement} root @param {any} info @param {string} chosen '' for all
 * @param {import('../i18n/index.js').Strings} strings @param {(name: string) => void} onChoose
 */
export function scopes(root, info, chosen, strings, onChoose) {
  root.hidden = info.collections.length < 2;
  root.ariaLabel = strings.search.scopes;
  const pill = (name, label) => el('button', { type: 'button', class: 'scope', 'aria-pressed': String(name === chosen), 'data-scope': name, onclick: () => onChoose(name) }, label);
  root.replaceChildren(pill('', strings.search.everywhere), ...info.collections.map(({ name, title }) => pill(name, title ?? name)));
}
