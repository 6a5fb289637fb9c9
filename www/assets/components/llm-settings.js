// Which language model writes answers, if any: a dialog. The key stays in memory, or in this tab if the reader says so.

import { el } from './dom.js';
import { connect, providers } from '../engine/answers.js';
import { diagnose, originToAdmit } from '../engine/diagnose.js';
import { getSetting, setSetting } from './settings.js';

const KEY = 'kb:llm-key';

/** @typedef {{ provider: string, baseUrl: string, address: string, model: string, maxTokens: number, numCtx: number, keepAlive: string, helps: boolean }} Saved */

/** @type {Saved} */
const NONE = { provider: '', baseUrl: '', address: '', model: '', maxTokens: 2048, numCtx: 8192, keepAlive: '5m', helps: false };

/** @param {{ strings: () => any, language: () => string, onChange: () => void, place?: ParentNode }} parts `place` takes the dialog */
export function llmSettings({ strings, language, onChange, place = document.body }) {
  /** Keys by the address they belong to: one typed for a service is never sent to another. @type {Record<string, string>} */
  let keys = readTab();
  let remember = Object.keys(keys).length > 0;
  let saved = load();
  /** @type {HTMLDialogElement | undefined} */
  let dialog;

  const chatSettings = (from = saved, key = keys[from.address] ?? '') => ({
    provider: /** @type {any} */ (from.provider), baseUrl: from.baseUrl, model: from.model, key,
    maxTokens: from.maxTokens, numCtx: from.numCtx, temperature: 0.2, keepAlive: from.keepAlive, lang: language(),
  });

  async function open() {
    const list = await providers();
    const { llm: s } = strings();
    dialog?.remove();
    const field = (label, input, note) => el('label', { class: 'field' }, el('span', {}, label), input, note ? el('small', {}, note) : '');
    const provider = el('select', { name: 'provider' }, el('option', { value: '' }, s.none), ...list.map(({ name }) => el('option', { value: name }, s.providers[name] ?? name)));
    provider.value = saved.provider;
    const baseUrl = el('input', { name: 'baseUrl', type: 'url', inputmode: 'url', autocomplete: 'off', spellcheck: 'false' });
    baseUrl.value = saved.baseUrl;
    const models = el('datalist', { id: 'kb-llm-models' });
    const model = el('input', { name: 'model', list: 'kb-llm-models', autocomplete: 'off', spellcheck: 'false' });
    model.value = saved.model;
    const key = el('input', { name: 'key', type: 'password', autocomplete: 'off', spellcheck: 'false' });
    const keep = el('input', { name: 'remember', type: 'checkbox' });
    keep.checked = remember;
    const helps = el('input', { name: 'helps', type: 'checkbox' });
    helps.checked = saved.helps === true;
    const number = (name, min, max) => {
      const input = el('input', { name, type: 'number', min, max, step: 1 });
      input.value = String(saved[name]);
      return input;
    };
    const [maxTokens, numCtx] = [number('maxTokens', 16, 65536), number('numCtx', 512, 1048576)];
    const keepAlive = el('input', { name: 'keepAlive', autocomplete: 'off' });
    keepAlive.value = saved.keepAlive;
    const result = el('p', { class: 'llm-result', role: 'status' });
    const ollamaOnly = field(s.keepAlive, keepAlive);
    const rest = el('div', { class: 'llm-rest' },
      field(s.baseUrl, baseUrl),
      field(s.model, model), models,
      field(s.key, key, s.keyNote),
      el('label', { class: 'check' }, keep, s.remember),
      el('details', {}, el('summary', {}, s.more), el('label', { class: 'check' }, helps, s.helps), field(s.maxTokens, maxTokens), field(s.numCtx, numCtx), ollamaOnly),
      el('div', { class: 'llm-test' }, el('button', { type: 'button', class: 'button', onclick: () => test() }, s.test), result));

    const now = () => ({
      provider: provider.value, baseUrl: baseUrl.value.trim(), model: model.value.trim(), address: addressOf(provider.value, baseUrl.value.trim(), list),
      maxTokens: within(maxTokens, NONE.maxTokens), numCtx: within(numCtx, NONE.numCtx), keepAlive: keepAlive.value.trim() || NONE.keepAlive, helps: helps.checked,
    });
    const update = () => {
      rest.hidden = !provider.value;
      ollamaOnly.hidden = provider.value !== 'ollama';
      baseUrl.placeholder = list.find(({ name }) => name === provider.value)?.baseUrl ?? '';
      baseUrl.required = provider.value === 'openai-compatible';
      model.required = provider.value !== '';
      key.value = keys[now().address] ?? '';
      result.textContent = '';
    };
    provider.addEventListener('change', () => {
      baseUrl.value = '';
      model.value = '';
      models.replaceChildren();
      update();
    });
    baseUrl.addEventListener('change', () => (key.value = keys[now().address] ?? key.value));

    async function test() {
      result.dataset.tone = 'busy';
      result.textContent = s.testing;
      const say = (tone, ...parts) => {
        result.dataset.tone = tone;
        result.replaceChildren(...parts);
      };
      let chat;
      try {
        chat = await connect(chatSettings(now(), key.value));
      } catch {
        return say('problem', s.badAddress);
      }
      try {
        const names = await chat.models(AbortSignal.timeout(20_000));
        models.replaceChildren(...names.map((name) => el('option', { value: name })));
        if (!model.value && names.length) model.value = names[0];
        const known = !names.length || names.includes(model.value) || names.includes(`${model.value}:latest`);
        say(known ? 'good' : 'problem', known ? s.works(names.length) : s.unknownModel(names.slice(0, 8).join(', ')));
      } catch (error) {
        if (error.code !== 'llm::not_running' && error.code !== 'llm::refused') return say('problem', error.name === 'ChatError' ? error.message : s.silent);
        const reason = error.code === 'llm::refused' ? 'origin' : await diagnose(chat.baseUrl);
        const line = `OLLAMA_ORIGINS=${originToAdmit()} ollama serve`;
        const ollama = provider.value === 'ollama' && reason === 'origin';
        say('problem', s.reasons[reason](chat.baseUrl), ollama ? el('code', { class: 'llm-line' }, line) : '');
      } finally {
        chat.free();
      }
    }

    const form = el('form', { method: 'dialog', class: 'llm-form' },
      el('h2', {}, s.title), el('p', {}, s.intro), field(s.provider, provider), rest,
      el('div', { class: 'llm-actions' },
        el('button', { type: 'button', class: 'button button-quiet', value: 'cancel', onclick: () => dialog?.close() }, s.cancel),
        el('button', { type: 'submit', class: 'button button-main', value: 'save' }, s.save)));
    form.addEventListener('submit', () => {
      saved = now();
      remember = keep.checked;
      keys = { ...keys, [saved.address]: key.value };
      writeTab(remember ? keys : {});
      // Everything but the key is kept.
      setSetting('llm', saved.provider ? JSON.stringify(saved) : null);
      onChange();
    });
    dialog = /** @type {HTMLDialogElement} */ (el('dialog', { class: 'llm-dialog', 'aria-label': s.title }, form));
    dialog.addEventListener('close', () => {
      // Nothing typed stays behind in the page.
      key.value = '';
      dialog?.remove();
    });
    place.append(dialog);
    update();
    dialog.showModal();
  }

  return {
    open,
    /** Whether it prepares the search as well. */
    helps: () => saved.helps === true,
    /** What to connect with; nothing if answers are to come from the passages alone. */
    current: () => (saved.provider && saved.model ? chatSettings() : undefined),
  };
}

/** What a key is kept under: two services never share one. @param {string} provider @param {string} baseUrl @param {{ name: string, baseUrl: string }[]} list */
function addressOf(provider, baseUrl, list) {
  const address = baseUrl || list.find(({ name }) => name === provider)?.baseUrl || '';
  try {
    return `${provider} ${new URL(address).origin}`;
  } catch {
    return provider;
  }
}

function load() {
  try {
    const parsed = JSON.parse(getSetting('llm') ?? 'null');
    return parsed && typeof parsed === 'object' ? { ...NONE, ...parsed } : NONE;
  } catch {
    return NONE;
  }
}

function readTab() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
  } catch {
    return {};
  }
}

function writeTab(keys) {
  try {
    if (Object.values(keys).some(Boolean)) sessionStorage.setItem(KEY, JSON.stringify(keys));
    else sessionStorage.removeItem(KEY);
  } catch { /* it holds until the page is closed */ }
}

/** @param {HTMLInputElement} input @param {number} otherwise */
function within(input, otherwise) {
  const value = Math.round(Number(input.value));
  return Number.isFinite(value) && value >= Number(input.min) && value <= Number(input.max) ? value : otherwise;
}
