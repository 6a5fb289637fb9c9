// What the reader allowed: to send questions to the service that has the model. The key stays in memory, or in this tab if
// the reader says so.

import { getSetting, setSetting } from './settings.js';

const KEY = 'kb:service-key';

/** Keys by the address they belong to, for this visit: one typed for a service is never sent to another. @type {Record<string, string> | undefined} */
let keys;

/** What the reader allowed before. @param {string} lang @returns {import('../engine/service.js').Access | undefined} */
export function savedAccess(lang) {
  try {
    const { kind, baseUrl } = JSON.parse(getSetting('service') ?? 'null') ?? {};
    return typeof kind === 'string' && typeof baseUrl === 'string' ? { kind, baseUrl, key: keyOf(baseUrl), lang } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {import('../engine/service.js').Access} access @param {boolean} remember the key, while this tab is open */
export function saveAccess({ kind, baseUrl, key }, remember) {
  setSetting('service', JSON.stringify({ kind, baseUrl }));
  keys = { ...readTab(), ...keys, [baseUrl]: key };
  try {
    if (remember && key) sessionStorage.setItem(KEY, JSON.stringify(keys));
    else sessionStorage.removeItem(KEY);
  } catch { /* it holds until the page is closed */ }
}

/** @param {string} address */
export const keyOf = (address) => (keys ?? readTab())[address] ?? '';

export const isRemembered = () => Object.keys(readTab()).length > 0;

/** @returns {Record<string, string>} */
function readTab() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
  } catch {
    return {};
  }
}
