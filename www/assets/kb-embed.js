// A knowledge base on somebody else's page: one script tag of type module, and one of these elements.

import { KbModal } from './embed/kb-modal.js';
import { KbSearch } from './embed/kb-search.js';

for (const [name, element] of Object.entries({ 'kb-search': KbSearch, 'kb-modal': KbModal })) {
  if (!customElements.get(name)) customElements.define(name, element);
}
