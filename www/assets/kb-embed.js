// A knowledge base on somebody else's page: one script tag of type module, and one of these elements.

import { KbModal } from './embed/kb-modal.js';
import { KbAsk, KbSearch } from './embed/kb-search.js';
import { KbSource } from './embed/kb-source.js';
import { KbSettings, KbStatus } from './embed/kb-status.js';

const elements = { 'kb-search': KbSearch, 'kb-modal': KbModal, 'kb-ask': KbAsk, 'kb-source': KbSource, 'kb-settings': KbSettings, 'kb-status': KbStatus };
for (const [name, element] of Object.entries(elements)) {
  if (!customElements.get(name)) customElements.define(name, element);
}
