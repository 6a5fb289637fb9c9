// One line that says what the engine is doing, and what the reader can do about it.

import { el } from './dom.js';

/**
 * @param {HTMLElement} root
 * @param {{ onUseMeaning: () => void, onWordsOnly: () => void, onConnect: () => void, announce: (text: string) => void }} handlers
 */
export function statusLine(root, { onUseMeaning, onWordsOnly, onConnect, announce }) {
  const text = /** @type {HTMLElement} */ (root.querySelector('[data-status-text]'));
  const actions = /** @type {HTMLElement} */ (root.querySelector('[data-status-actions]'));
  const progress = /** @type {HTMLProgressElement} */ (root.querySelector('[data-status-progress]'));
  let shown = '';

  return {
    /** @param {import('../engine/client.js').EngineState} state @param {import('../i18n/index.js').Strings} strings */
    show(state, strings) {
      const view = describe(state, strings);
      // Of several knowledge bases some may be missing: the others are searched, and the reader knows.
      if (state.lost && state.words === 'ready') view.text = [strings.status.lost(state.lost, state.of ?? 0, state.away ?? []), view.text].join(strings.gap);
      root.dataset.tone = view.tone;
      root.dataset.words = state.words;
      root.dataset.meaning = state.meaning;
      text.textContent = view.text;
      progress.hidden = !state.progress;
      if (state.progress) {
        progress.max = state.progress.total || 1;
        progress.value = state.progress.got;
        progress.ariaLabel = view.text;
      }
      const key = `${state.words} ${state.meaning} ${state.reason} ${state.restarted} ${document.documentElement.lang}`;
      if (key === shown) return; // numbers that run are seen, not announced, and buttons keep their focus
      shown = key;
      if (state.words !== 'starting' && !state.progress) announce(view.text);
      const button = (label, onclick) => el('button', { type: 'button', class: 'button button-quiet', onclick }, label);
      actions.replaceChildren(...view.actions.map((name) => {
        if (name === 'retry') return button(strings.status.retry, onUseMeaning);
        if (name === 'connect') return button(strings.service.connect, onConnect);
        if (name === 'words') return button(strings.status.wordsOnly, onWordsOnly);
        return button(strings.status.loadModel(state.modelBytes), onUseMeaning);
      }));
    },
  };
}

/** The elements that a status line is made of. @param {Record<string, any>} [props] of the outermost one */
export const statusParts = (props = {}) => el('div', { class: 'status', part: 'status', 'data-status': true, ...props },
  el('p', { class: 'status-line' }, el('span', { class: 'status-dot', 'aria-hidden': 'true' }), el('span', { id: 'status-text', 'data-status-text': true })),
  el('div', { class: 'status-actions', 'data-status-actions': true }),
  el('progress', { class: 'status-progress', max: 1, value: 0, hidden: true, 'data-status-progress': true }));

/** @param {import('../engine/client.js').EngineState} state @param {import('../i18n/index.js').Strings} strings */
function describe(state, strings) {
  const s = strings.status;
  const { got, total, rate } = state.progress ?? { got: 0, total: 0, rate: 0 };
  if (state.words === 'failed') return { tone: 'problem', text: s.broken, actions: [] };
  if (state.words !== 'ready') return { tone: 'busy', text: total ? s.words(got, total) : s.starting, actions: [] };
  switch (state.meaning) {
    case 'loading': return { tone: 'busy', text: s.model(got, total, rate), actions: ['words'] };
    case 'preparing': return { tone: 'busy', text: s.preparing, actions: ['words'] };
    case 'ready': return { tone: 'meaning', text: [state.restarted && s.restarted, state.service ? strings.service.ready(state.service) : s.ready, state.unkept && s.unkept].filter(Boolean).join(strings.gap), actions: ['words'] };
    case 'failed': return { tone: 'problem', text: s.failed(explain(state.error, strings)), actions: state.service ? ['retry', 'connect'] : ['retry'] };
    case 'off': {
      if (state.reason === 'service' && state.service) return { tone: 'words', text: strings.service.off(state.service), actions: ['connect'] };
      const why = s.off[state.reason ?? 'choice'];
      const canLoad = ['choice', 'saveData', 'small'].includes(state.reason ?? '');
      return { tone: 'words', text: typeof why === 'function' ? why(state.modelBytes) : why, actions: canLoad ? ['load'] : [] };
    }
    default: return { tone: 'words', text: s.wordsReady, actions: [] };
  }
}

/** What an error means, in the reader's language. @param {any} error @param {import('../i18n/index.js').Strings} strings */
export function explain(error, strings) {
  const code = error?.code ?? 'unknown';
  // These come as a sentence in the reader's language, what the server said included.
  if (code.startsWith('llm::') && !strings.errors[code]) return error.message;
  return [strings.errors[code] ?? strings.errors.unknown, strings.hints[code]].filter(Boolean).join(strings.gap);
}
