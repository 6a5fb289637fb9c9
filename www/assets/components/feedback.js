// What the reader thought of answers and results: kept in this browser only, until the reader downloads it as questions for `kb-builder eval`.

import { el } from './dom.js';
import { getSetting, setSetting } from './settings.js';

/** The oldest ones go first. */
const MOST = 500;

/**
 * @typedef {object} Feedback
 * @property {string} question
 * @property {boolean} useful
 * @property {'answer' | 'result'} on
 * @property {string} [kind]      of an answer
 * @property {string[]} places    what was cited, or the result
 * @property {string[]} collections what the question was narrowed down to
 * @property {{ key: string, value: string }[]} filters
 */

/** @returns {Feedback[]} */
function allFeedback() {
  try {
    const list = JSON.parse(getSetting('feedback') ?? '[]');
    return Array.isArray(list) ? list.filter((given) => typeof given?.question === 'string' && Array.isArray(given.places)) : [];
  } catch {
    return [];
  }
}

/** Fired on the window when there is more, or nothing any more. */
const CHANGED = 'kb:feedback';

/** @param {Feedback} given */
export function keepFeedback(given) {
  setSetting('feedback', JSON.stringify([...allFeedback(), given].slice(-MOST)));
  dispatchEvent(new Event(CHANGED));
}

/** Where a passage is, as `kb-builder eval` understands it. @param {{ collection: string, path: string, anchor: string }} passage */
export const placeOf = ({ collection, path, anchor }) => `${collection}/${path}${anchor ? `#${anchor}` : ''}`;

/**
 * The feedback as a file of questions, a JSON object a line. What was said last about a place counts.
 * @param {Feedback[]} list
 */
export function asQuestions(list) {
  /** @typedef {{ question: string, scope: any, places: Map<string, boolean>, unanswerable: boolean | undefined, given: any[] }} Entry */
  /** @type {Map<string, Entry>} */
  const questions = new Map();
  for (const { question, useful, on, kind, places, collections = [], filters = [] } of list) {
    const scope = {
      ...(collections.length === 1 ? { collection: collections[0] } : {}),
      ...(filters.length ? { filters: filters.map(({ key, value }) => `${key}=${value}`) } : {}),
    };
    const key = JSON.stringify([question, scope]);
    /** @type {Entry} */
    const entry = questions.get(key) ?? { question, scope, places: new Map(), unanswerable: undefined, given: [] };
    questions.set(key, entry);
    entry.given.push({ on, useful, ...(kind ? { kind } : {}) });
    if (kind === 'nothing' || kind === 'refused') entry.unanswerable = useful;
    else for (const place of places) entry.places.set(place, useful);
  }
  const lines = [];
  for (const { question, scope, places, unanswerable, given } of questions.values()) {
    const of = (useful) => [...places].filter(([, value]) => value === useful).map(([place]) => place);
    const [expected, unwanted] = [of(true), of(false)];
    const right = expected.length ? { expected } : unanswerable ? { expected: 'unanswerable' } : {};
    // An answer that was refused wrongly says nothing that could be measured.
    if (!('expected' in right) && !unwanted.length) continue;
    lines.push(JSON.stringify({ question, ...right, ...(unwanted.length ? { unwanted } : {}), ...scope, given }));
  }
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * The buttons below the page's answers and results that take the feedback away: shown while there is some.
 * @param {HTMLElement} root @param {{ strings: () => any }} parts
 */
export function feedbackExport(root, { strings }) {
  const show = () => {
    const list = allFeedback();
    const { feedback: s } = strings();
    root.hidden = !list.length;
    root.replaceChildren(...(list.length ? [
      el('span', {}, s.kept(list.length)), ' ',
      el('button', { type: 'button', class: 'button button-quiet', 'data-feedback-export': '', onclick: download }, s.download), ' ',
      el('button', { type: 'button', class: 'button button-quiet', 'data-feedback-forget': '', onclick: () => {
        setSetting('feedback', null);
        dispatchEvent(new Event(CHANGED));
      } }, s.forget),
    ] : []));
  };
  const download = () => {
    const url = URL.createObjectURL(new Blob([asQuestions(allFeedback())], { type: 'application/jsonl' }));
    el('a', { href: url, download: 'feedback.jsonl' }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  addEventListener(CHANGED, show);
  show();
  return { translate: show };
}

/** Two buttons that ask about a result. @param {any} hit @param {any} query @param {any} s the strings of feedback */
export function resultFeedback(hit, query, s) {
  const root = el('span', { class: 'hit-feedback' });
  const button = (label, useful) => el('button', { type: 'button', class: 'button-mark', title: label, 'aria-label': label, 'data-useful': String(useful), onclick: () => {
    const { collections = [], filters = [] } = query;
    keepFeedback({ question: query.text, useful, on: 'result', places: [placeOf(hit)], collections, filters });
    root.replaceChildren(el('span', { role: 'status' }, s.noted));
  } }, useful ? '＋' : '－');
  root.append(button(s.useful, true), button(s.notUseful, false));
  return root;
}
