// Where no word says why a passage was found, the sentence that is nearest to the question by meaning is marked.

import { el } from './dom.js';

/** Results are left alone for so long before they are looked at: whoever types on needs the model for the next question. Milliseconds. */
const REST = 700;
/** How many results are looked at, from the first on, and how many sentences of each. */
const [RESULTS, SENTENCES] = [3, 8];
/** A shorter piece says nothing by itself. Characters. */
const LEAST = 8;

/**
 * @param {HTMLElement} root the list's
 * @param {import('../engine/group.js').AnyEngine} engine
 */
export function nearestSentences(root, engine) {
  let turn = new AbortController();
  return {
    /** Gives up what is being looked at. */
    stop: () => turn.abort(),
    /** Looks at what the list shows for this question. @param {string} question */
    async point(question) {
      turn.abort();
      turn = new AbortController();
      const { signal } = turn;
      await new Promise((resolve) => setTimeout(resolve, REST));
      // A service would be asked, and paid, for every sentence.
      if (signal.aborted || engine.state.meaning !== 'ready' || engine.state.service) return;
      for (const place of [...root.querySelectorAll('.hit-text')].slice(0, RESULTS)) {
        const parts = sentences(place.textContent ?? '');
        if (place.childNodes.length !== 1 || parts.length < 2) continue;
        const cosines = await engine.similarities(question, parts.map(({ text }) => text), signal).catch(() => undefined);
        if (signal.aborted || !cosines) return;
        const best = parts[cosines.indexOf(Math.max(...cosines))];
        const text = place.firstChild;
        if (!best || !place.isConnected || place.childNodes.length !== 1 || !(text instanceof Text)) continue;
        const range = document.createRange();
        range.setStart(text, best.start);
        range.setEnd(text, best.start + best.text.length);
        range.surroundContents(el('mark', { class: 'mark-near' }));
      }
    },
  };
}

/** The sentences of a text with their places; none where the browser cannot tell them. @param {string} text */
export function sentences(text) {
  if (!('Segmenter' in Intl)) return [];
  return [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)]
    .map(({ segment, index }) => ({ text: segment.trim(), start: index + segment.length - segment.trimStart().length }))
    .filter((part) => part.text.length >= LEAST).slice(0, SENTENCES);
}
