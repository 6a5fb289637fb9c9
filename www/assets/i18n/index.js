// Which language the interface speaks, and its sentences.

import { en } from './en.js';
import { zh } from './zh.js';

/** Every interface language by its code. A further language is one more file and one more line here. */
export const languages = { en, zh };

/** @typedef {typeof en} Strings */

/**
 * The best interface language for this reader: their own choice, else the first of the browser's languages that we speak.
 * @param {string | null} chosen
 * @param {readonly string[]} wanted for example `navigator.languages`
 * @returns {keyof typeof languages}
 */
export function pickLanguage(chosen, wanted) {
  for (const tag of [chosen, ...wanted]) {
    const code = tag?.toLowerCase().split('-')[0];
    if (code && Object.hasOwn(languages, code)) return /** @type {keyof typeof languages} */ (code);
  }
  return 'en';
}

/**
 * Fills every element that names a sentence: `data-i18n="a.b"` its text.
 * @param {ParentNode} root
 * @param {Strings} strings
 */
export function fillIn(root, strings) {
  for (const element of root.querySelectorAll('[data-i18n]')) {
    const path = /** @type {HTMLElement} */ (element).dataset.i18n ?? '';
    const value = path.split('.').reduce((/** @type {any} */ at, key) => at?.[key], strings);
    if (typeof value === 'string') element.textContent = value;
  }
}
