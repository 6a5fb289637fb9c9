// Whether questions may go to the service that has the model, and where it is: a dialog.

import { el } from './dom.js';
import { diagnose, originToAdmit } from '../engine/diagnose.js';
import { isRemembered, keyOf, savedAccess, saveAccess } from './service-access.js';
import { setSetting } from './settings.js';
import { explain } from './status.js';

/**
 * @param {object} parts
 * @param {import('../engine/group.js').AnyEngine} parts.engine
 * @param {any} parts.strings @param {string} parts.language
 * @param {ParentNode} [parts.place] takes the dialog
 */
export function openServiceSettings({ engine, strings, language, place = document.body }) {
  const { service } = engine.state;
  if (!service) return;
  const { service: s, llm } = strings;
  const field = (label, input, note) => el('label', { class: 'field' }, el('span', {}, label), input, note ? el('small', {}, note) : '');
  const address = el('input', { name: 'baseUrl', type: 'url', inputmode: 'url', autocomplete: 'off', spellcheck: 'false', required: true });
  address.value = savedAccess(language)?.baseUrl ?? service.base_url;
  const key = el('input', { name: 'key', type: 'password', autocomplete: 'off', spellcheck: 'false' });
  key.value = keyOf(address.value);
  address.addEventListener('change', () => (key.value = keyOf(address.value.trim()) || key.value));
  const remember = el('input', { name: 'remember', type: 'checkbox' });
  remember.checked = isRemembered();
  const result = el('p', { class: 'llm-result', role: 'status' });
  const connect = el('button', { type: 'submit', class: 'button button-main' }, s.connectNow);
  const form = el('form', { class: 'llm-form' },
    el('h2', {}, s.title), el('p', {}, s.intro(service)), field(llm.baseUrl, address),
    ...(service.kind === 'ollama' ? [] : [field(llm.key, key, llm.keyNote), el('label', { class: 'check' }, remember, llm.remember)]),
    result,
    el('div', { class: 'llm-actions' }, el('button', { type: 'button', class: 'button button-quiet', onclick: () => dialog.close() }, llm.cancel), connect));
  const dialog = /** @type {HTMLDialogElement} */ (el('dialog', { class: 'llm-dialog', 'aria-label': s.title }, form));

  const say = (tone, ...what) => {
    result.dataset.tone = tone;
    result.replaceChildren(...what);
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const baseUrl = address.value.trim();
    connect.disabled = true;
    say('busy', llm.testing);
    setSetting('meaning', null);
    await engine.useService({ kind: service.kind, baseUrl, key: key.value, lang: language });
    connect.disabled = false;
    if (engine.state.meaning === 'ready') {
      saveAccess({ kind: service.kind, baseUrl, key: key.value, lang: language }, remember.checked);
      return dialog.close();
    }
    if (engine.state.reason === 'service') return say('problem', s.noKey);
    say('problem', ...(await why(engine.state.error, baseUrl, service, strings)));
  });
  dialog.addEventListener('close', () => {
    // Nothing typed stays behind in the page.
    key.value = '';
    dialog.remove();
  });
  place.append(dialog);
  dialog.showModal();
}

/** Why the service cannot be used, and what helps. @returns {Promise<(string | Node)[]>} */
async function why(error, baseUrl, service, strings) {
  const { llm } = strings;
  if (error?.code === 'kb::invalid_input') return [llm.badAddress];
  if (error?.code !== 'llm::not_running' && error?.code !== 'llm::refused') return [explain(error, strings)];
  const reason = error.code === 'llm::refused' ? 'origin' : await diagnose(baseUrl);
  const line = `OLLAMA_ORIGINS=${originToAdmit()} ollama serve`;
  if (reason === 'origin' && service.kind !== 'ollama') return [strings.service.refused(baseUrl)];
  return [llm.reasons[reason](baseUrl), ...(service.kind === 'ollama' && reason === 'origin' ? [el('code', { class: 'llm-line' }, line)] : [])];
}
