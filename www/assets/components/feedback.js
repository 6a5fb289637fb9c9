// What the reader thought of answers: kept in this browser only.

import { getSetting, setSetting } from './settings.js';

/** The oldest ones go first. */
const MOST = 500;

/** @typedef {{ question: string, useful: boolean, sources: string[], kind: string }} Feedback */

/** @returns {Feedback[]} */
function allFeedback() {
  try {
    const list = JSON.parse(getSetting('feedback') ?? '[]');
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

/** @param {Feedback} given */
export function keepFeedback(given) {
  setSetting('feedback', JSON.stringify([...allFeedback(), given].slice(-MOST)));
}
