// <kb-modal>: a button, and a search over the page; also by Ctrl+K, Cmd+K or `/`.

import { el, icon } from '../components/dom.js';
import { isTyping } from '../components/search-box.js';
import { KbElement } from './element.js';
import { panel } from './panel.js';

/** With several on a page, keys open the first. @type {Set<KbModal>} */
const onPage = new Set();

document.addEventListener('keydown', (event) => {
  const [first] = onPage;
  if (!first || event.defaultPrevented || event.isComposing || event.altKey) return;
  const chord = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'k';
  const slash = event.key === '/' && !event.ctrlKey && !event.metaKey;
  if (!chord && !slash) return;
  const inside = event.composedPath().includes(first);
  // Keys that go to somebody's text are not ours; Ctrl+K in our own box closes it again, and a box that is not seen takes none.
  if (isTyping(event) && !(inside && (chord || !first.isOpen))) return;
  event.preventDefault();
  if (first.isOpen && chord) first.close();
  else first.open();
});

export class KbModal extends KbElement {
  /** @type {ReturnType<typeof panel> | undefined} */ #panel;
  /** @type {HTMLDialogElement | undefined} */ #dialog;

  async connectedCallback() {
    onPage.add(this);
    await super.connectedCallback();
  }

  disconnectedCallback() {
    onPage.delete(this);
  }

  build() {
    const { strings } = this;
    this.#panel?.close();
    const body = el('div', { class: 'dialog-body' });
    this.#panel = panel(this, { top: () => body.scrollTo(0, 0), landmark: false });
    body.append(this.#panel.root);
    const close = el('button', { type: 'button', class: 'dialog-close', 'aria-label': strings.search.close, title: strings.search.close, onclick: () => this.close() }, icon('m6.5 6.5 11 11m0-11-11 11'));
    const dialog = el('dialog', { class: 'dialog', part: 'dialog', 'aria-label': strings.search.label }, body, close);
    // A click beside the sheet closes it.
    dialog.addEventListener('click', (event) => event.target === dialog && this.close());
    // Opened by a key, there is nothing that the focus could go back to; it must not stay in a box that is not seen.
    dialog.addEventListener('close', () => {
      const focused = /** @type {HTMLElement | null} */ (this.tree.activeElement);
      if (focused && dialog.contains(focused)) focused.blur();
    });
    const keys = /Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘K' : 'Ctrl K';
    const trigger = el('button', { type: 'button', class: 'trigger', part: 'trigger', 'aria-haspopup': 'dialog', 'aria-keyshortcuts': 'Control+K Meta+K', onclick: () => this.open() },
      icon('M4.5 10.8a6.3 6.3 0 1 0 12.6 0 6.3 6.3 0 1 0-12.6 0m11.1 4.8 4.9 4.9'), el('span', { class: 'trigger-text' }, strings.search.open), el('kbd', { 'aria-hidden': 'true' }, keys));
    this.#dialog = dialog;
    this.tree.replaceChildren(trigger, dialog);
  }

  get isOpen() {
    return this.#dialog?.open ?? false;
  }

  open() {
    if (!this.#dialog || this.isOpen) return;
    this.#dialog.showModal();
    this.wake();
    this.#panel?.focus();
  }

  close() {
    this.#dialog?.close();
  }
}
