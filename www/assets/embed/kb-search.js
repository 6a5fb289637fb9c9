// <kb-search>: a box, and its results under it.

import { KbElement } from './element.js';
import { panel } from './panel.js';

export class KbSearch extends KbElement {
  /** @type {ReturnType<typeof panel> | undefined} */ #panel;

  build() {
    this.#panel?.close();
    this.#panel = panel(this);
    this.tree.replaceChildren(this.#panel.root);
  }

  focus() {
    this.#panel?.focus();
  }
}
