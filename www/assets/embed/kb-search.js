// <kb-search>: a box, and its results under it. <kb-ask>: the same with an answer above the results.

import { KbElement } from './element.js';
import { panel } from './panel.js';

export class KbSearch extends KbElement {
  /** @type {ReturnType<typeof panel> | undefined} */ #panel;

  build() {
    this.#panel?.close();
    this.#panel = panel(this, { answers: this.answers });
    this.tree.replaceChildren(this.#panel.root);
  }

  /** Whether an answer stands above the results. */
  get answers() {
    return false;
  }

  focus() {
    this.#panel?.focus();
  }
}

export class KbAsk extends KbSearch {
  get answers() {
    return true;
  }
}
