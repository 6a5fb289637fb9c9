// Questions that were asked in this browser, offered again under the empty box. They are kept here and nowhere else.

import { el } from './dom.js';
import { href } from './routes.js';
import { getSetting, setSetting } from './settings.js';

/** How many are kept. */
const MOST = 6;
/** Longer questions are not worth a place. Characters. */
const LONGEST = 80;

/** @returns {string[]} */
function kept() {
  try {
    const list = JSON.parse(getSetting('recent') ?? '[]');
    return Array.isArray(list) ? list.filter((text) => typeof text === 'string').slice(0, MOST) : [];
  } catch {
    return [];
  }
}

/** Keeps a question that was of use: one that a result was opened for, or that was entered. @param {string} text */
export function remember(text) {
  if (!text || text.length > LONGEST) return;
  setSetting('recent', JSON.stringify([text, ...kept().filter((old) => old !== text)].slice(0, MOST)));
}

/** @param {HTMLElement} root @param {import('../i18n/index.js').Strings} strings */
export function showRecent(root, strings) {
  const list = kept();
  root.hidden = list.length === 0;
  root.replaceChildren(...(list.length === 0 ? [] : [
    el('span', { class: 'recent-label', id: 'recent-label' }, strings.search.recent),
    el('ul', { 'aria-labelledby': 'recent-label' }, ...list.map((text) => el('li', {}, el('a', { href: href({ query: text }) }, text)))),
    el('button', { type: 'button', class: 'button button-quiet', onclick: () => {
      setSetting('recent', null);
      showRecent(root, strings);
      document.getElementById('q')?.focus();
    } }, strings.search.forget),
  ]));
}
