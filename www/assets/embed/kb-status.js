// <kb-status>: what the search is doing, in one line. <kb-settings>: what a reader can choose.

import { el } from '../components/dom.js';
import { getSetting, setSetting } from '../components/settings.js';
import { statusLine, statusParts } from '../components/status.js';
import { KbElement } from './element.js';

/** Both follow the engine, and start none. */
class Follower extends KbElement {
  /** @type {AbortController | undefined} */ #following;

  /** @param {() => void} changed */
  follow(changed) {
    this.#following?.abort();
    this.#following = new AbortController();
    this.engine.addEventListener('state', changed, { signal: this.#following.signal });
    changed();
  }

  useMeaning() {
    setSetting('meaning', null);
    this.wake();
    if (this.engine.state.words === 'ready') this.engine.useMeaning();
  }

  useWordsOnly() {
    setSetting('meaning', 'off');
    this.engine.useWordsOnly();
  }

  /** @param {HTMLElement} place takes the dialog */
  async connect(place) {
    const { engine, strings } = this;
    const { openServiceSettings } = await import('../components/service-settings.js');
    openServiceSettings({ engine, strings, language: strings.name === '中文' ? 'zh' : 'en', place });
  }
}

export class KbStatus extends Follower {
  build() {
    const { engine, strings } = this;
    const root = statusParts();
    this.tree.replaceChildren(el('div', { class: 'kb', lang: strings.name === '中文' ? 'zh-Hans' : 'en' }, root));
    const status = statusLine(root, { announce: () => {}, onUseMeaning: () => this.useMeaning(), onWordsOnly: () => this.useWordsOnly(), onConnect: () => this.connect(root) });
    this.follow(() => status.show(engine.state, strings));
  }
}

export class KbSettings extends Follower {
  build() {
    const { engine, strings } = this;
    const { settings: s } = strings;
    const meaning = el('input', { type: 'checkbox', onchange: () => {
      if (!meaning.checked) return this.useWordsOnly();
      if (engine.state.reason !== 'service') return this.useMeaning();
      meaning.checked = false;
      this.connect(root);
    } });
    const size = el('span');
    const memory = el('p', { class: 'settings-memory', part: 'memory' });
    const done = el('span', { role: 'status' });
    const forget = el('button', { type: 'button', class: 'button', onclick: () => {
      setSetting('recent', null);
      done.textContent = s.forgotten;
    } }, s.forget);
    const llm = el('button', { type: 'button', class: 'button', onclick: async () => {
      const { llmSettings } = await import('../components/llm-settings.js');
      llmSettings({ strings: () => strings, language: () => (strings.name === '中文' ? 'zh' : 'en'), onChange: () => {}, place: root }).open();
    } }, strings.llm.title);
    const root = el('div', { class: 'kb settings', part: 'settings', lang: strings.name === '中文' ? 'zh-Hans' : 'en', role: 'group', 'aria-label': s.label },
      el('label', { class: 'check' }, meaning, el('span', {}, s.meaning, ' ', size)), el('div', { class: 'settings-row' }, llm, forget, done), memory);
    this.tree.replaceChildren(root);
    let last = '';
    this.follow(async () => {
      const { state } = engine;
      meaning.checked = getSetting('meaning') !== 'off' && state.meaning !== 'off';
      meaning.disabled = state.words === 'failed' || ['noModel', 'modelAway', 'noSimd'].includes(state.reason ?? '');
      size.textContent = state.modelBytes ? `(${strings.bytes(state.modelBytes)})` : '';
      const now = `${state.words} ${state.meaning}`;
      if (now === last) return;
      last = now;
      if (state.words !== 'ready') return;
      const used = await engine.memory().catch(() => undefined);
      if (used) memory.textContent = s.memory(strings.bytes(used.search + used.encoder));
    });
  }
}
