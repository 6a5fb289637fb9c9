// What the author of a page lets its readers see of a knowledge base. In static files this hides, it does not protect.

/** @typedef {{ key: string, value: string }} Condition */

/** Keys that the list of documents tells, turned round or not. */
const TOLD = /^(path|lang)\s*!?$/;

/** A key that no document has: the condition is met by nothing. */
const UNREAD = '\0';

/**
 * Conditions as they are written in an attribute: `tag=public; lang!=en; date>=2024`. What cannot be read is a condition
 * that nothing meets: a slip must not open what was to be closed.
 * @param {string | null} text @returns {Condition[]}
 */
export function conditions(text) {
  return (text ?? '').split(';').map((item) => item.trim()).filter(Boolean).map((item) => {
    const at = item.indexOf('=');
    const key = item.slice(0, Math.max(at, 0)).trim();
    if (key.replace(/[!<>\s]+$/, '')) return { key, value: item.slice(at + 1).trim() };
    console.error(`kb-builder: in the attribute filters, “${item}” is not KEY=VALUE, KEY!=VALUE, KEY>=VALUE or KEY<=VALUE.`);
    return { key: UNREAD, value: '' };
  });
}

/**
 * Whether a document may be seen, as far as it can be told without its front matter: by collection, path and language.
 * @param {{ collection: string, path: string, lang: string }} document @param {string[]} collections none for all @param {Condition[]} filters
 */
export function admits({ collection, path, lang }, collections, filters) {
  if (collections.length > 0 && !collections.includes(collection)) return false;
  if (filters.some(({ key }) => key === UNREAD)) return false;
  const holds = ({ key, value }) => (key.startsWith('path') ? path.startsWith(value) : lang === value);
  const told = filters.filter(({ key }) => TOLD.test(key));
  return told.every((filter) => (filter.key.endsWith('!') ? !holds(filter) : told.some((other) => other.key === filter.key && holds(other))));
}

/** The conditions that {@link admits} cannot judge: only the engine knows tags, dates and front matter. @param {Condition[]} filters */
export const untold = (filters) => filters.filter(({ key }) => !TOLD.test(key));

/** Fixed conditions and a language that the reader chose: it narrows them down and lifts none. @param {Condition[]} fixed @param {string} lang */
export function narrowed(fixed, lang) {
  const own = fixed.filter(({ key }) => key === 'lang');
  if (!lang || (own.length > 0 && !own.some(({ value }) => value === lang))) return fixed;
  return [...fixed.filter(({ key }) => key !== 'lang'), { key: 'lang', value: lang }];
}
