// The elements of kb-embed.js for TypeScript pages: properties, methods, events, attributes.
// With this file in a project, `/// <reference path="kb-embed.d.ts" />` or an import of its types is all that is needed.

import type { Filter, Hit } from './kb-types.js';

export type { Excerpt, Hit, Info, Mode, Response, Span } from './kb-types.js';

/** Of `kb-state`: how far the search is. */
export interface KbState {
  words: 'starting' | 'loading' | 'ready' | 'failed';
  meaning: 'waiting' | 'loading' | 'preparing' | 'ready' | 'off' | 'failed';
  /** Why meaning is off: the reader's choice, or what the device, the network or the browser does not allow. */
  reason?: string;
}

/** A hit as an element shows it. */
export interface KbHit extends Hit {
  /** Address of the site that it comes from, where an element searches several. */
  site?: string;
}

/** Of `kb-results`: what a list shows now. A question may be told twice: by words, then by meaning. */
export interface KbResults {
  /** The question. */
  text: string;
  /** Best first. */
  hits: KbHit[];
  /** Whether the meaning was searched too. */
  meaning: boolean;
}

/** Of `kb-open`: the passage that the reader is about to open. With `preventDefault()` the page opens it itself. */
export interface KbOpen {
  /** `collection/path` of the document. */
  doc: string;
  /** Id of the passage, may be empty. */
  passage: string;
  /** Fragment identifier of its heading, may be empty. */
  anchor: string;
  /** The question that found it, may be empty. */
  text: string;
  /** Where the knowledge base's own page shows it. */
  url: string;
}

/** Events of `<kb-search>`, `<kb-ask>` and `<kb-modal>`; they bubble. */
export interface KbEventMap {
  'kb-state': CustomEvent<KbState>;
  'kb-results': CustomEvent<KbResults>;
  'kb-open': CustomEvent<KbOpen>;
}

/** Attributes of every element. */
export interface KbAttributes {
  /** Folder of the site; default: the one that the script came from. */
  src?: string;
  /** In place of `src`: folders separated by commas, each with a weight behind it or without. */
  bundles?: string;
  /** Default: the page's language, then the browser's. */
  lang?: 'zh' | 'en';
  theme?: 'light' | 'dark';
  /** Names separated by commas: only these collections are searched, whatever the reader does. */
  collections?: string;
  /** Conditions as `kb-builder search --filter` takes them, separated by semicolons: `tag=public; lang!=en`. The reader can narrow them down, not lift them. */
  filters?: string;
}

/** Attributes of `<kb-modal>`. */
export interface KbModalAttributes extends KbAttributes {
  /** Puts the button where the element stands. */
  placement?: 'inline';
}

/** Attributes of `<kb-source>`. */
export interface KbSourceAttributes extends KbAttributes {
  /** `collection/path`. */
  doc: string;
  /** Id of a passage to point out. */
  passage?: string;
  /** A heading to begin at. */
  anchor?: string;
}

/** The attributes of each element by its name, for typed templates and JSX. */
export interface KbElementAttributes {
  'kb-search': KbAttributes;
  'kb-ask': KbAttributes;
  'kb-modal': KbModalAttributes;
  'kb-source': KbSourceAttributes;
  'kb-status': KbAttributes;
  'kb-settings': KbAttributes;
}

/** What all elements have in common. Attributes are set with `setAttribute`. */
export interface KbElement extends HTMLElement {
  /** Folder of the knowledge base's site; of the first, if there are several. */
  readonly site: URL;
  /** The sites that are searched, each with its weight. */
  readonly bundles: { site: URL; weight: number }[];
  /** Collections that the attribute names; none for all. */
  readonly collections: string[];
  /** Conditions that the attribute names; none for all. */
  readonly filters: Filter[];
  /** Loads the knowledge base before anybody searches; without `meaning` the model is left for the first search. */
  wake(options?: { meaning?: boolean }): void;
  setAttribute<K extends keyof (KbModalAttributes & KbSourceAttributes)>(name: K, value: NonNullable<(KbModalAttributes & KbSourceAttributes)[K]>): void;
  setAttribute(name: `data-${string}` | `aria-${string}` | 'id' | 'class' | 'part' | 'slot' | 'style' | 'title' | 'hidden', value: string): void;
}

/** An element that tells its page what happens. */
export interface KbTelling extends KbElement {
  addEventListener<K extends keyof KbEventMap>(type: K, listener: (this: this, event: KbEventMap[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener<K extends keyof HTMLElementEventMap>(type: K, listener: (this: this, event: HTMLElementEventMap[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<K extends keyof KbEventMap>(type: K, listener: (this: this, event: KbEventMap[K]) => unknown, options?: boolean | EventListenerOptions): void;
  removeEventListener<K extends keyof HTMLElementEventMap>(type: K, listener: (this: this, event: HTMLElementEventMap[K]) => unknown, options?: boolean | EventListenerOptions): void;
}

/** `<kb-search>`: a box with its results under it. */
export interface KbSearch extends KbTelling {
  /** Puts the reader into the box. */
  focus(): void;
}

/** `<kb-ask>`: the same with an answer above the results. */
export interface KbAsk extends KbSearch {
  readonly answers: true;
}

/** `<kb-modal>`: a button that opens the search over the page. */
export interface KbModal extends KbTelling {
  readonly isOpen: boolean;
  open(): void;
  close(): void;
}

/** `<kb-source>`: one document in the page. */
export interface KbSource extends KbElement {}

/** `<kb-status>`: what the search is doing, in one line. */
export interface KbStatus extends KbElement {}

/** `<kb-settings>`: what a reader can choose. */
export interface KbSettings extends KbElement {}

declare global {
  interface HTMLElementTagNameMap {
    'kb-search': KbSearch;
    'kb-ask': KbAsk;
    'kb-modal': KbModal;
    'kb-source': KbSource;
    'kb-status': KbStatus;
    'kb-settings': KbSettings;
  }
}
