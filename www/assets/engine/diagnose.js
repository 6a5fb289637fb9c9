// Why a language model cannot be reached. The browser only says that a request failed; a few questions tell the cases apart.

/**
 * @typedef {'policy' | 'mixed' | 'permission' | 'origin' | 'down'} Reason
 *   `policy` the page's content security policy; `mixed` an http address from an https page; `permission` the reader has
 *   not allowed access to the local network; `origin` the server runs but does not admit this page; `down` nothing answers
 */

/** @param {string} baseUrl @returns {Promise<Reason>} */
export async function diagnose(baseUrl) {
  const url = new URL(baseUrl);
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname) || url.hostname.endsWith('.localhost');
  if (await refusedByPolicy(url)) return 'policy';
  if (location.protocol === 'https:' && url.protocol === 'http:' && (!local || isSafari())) return 'mixed';
  if (await reachable(url)) return 'origin';
  if (local || isPrivate(url.hostname)) {
    const permission = await localNetwork();
    if (permission === 'denied') return 'permission';
  }
  return 'down';
}

/** The value of OLLAMA_ORIGINS that admits this page: a page from the disk has no origin of its own. */
export const originToAdmit = () => (location.protocol === 'file:' || location.origin === 'null' ? '*' : location.origin);

/** A request whose reply may not be read still says that somebody answers. */
async function reachable(url) {
  try {
    await fetch(url, { mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(5000) });
    return true;
  } catch {
    return false;
  }
}

async function refusedByPolicy(url) {
  let refused = false;
  const listen = (event) => {
    if (event.effectiveDirective === 'connect-src') refused = true;
  };
  document.addEventListener('securitypolicyviolation', listen);
  await reachable(url);
  await new Promise((resolve) => setTimeout(resolve, 0));
  document.removeEventListener('securitypolicyviolation', listen);
  return refused;
}

/** Chrome asks before a page may reach the local network. */
async function localNetwork() {
  try {
    const { state } = await navigator.permissions.query(/** @type {any} */ ({ name: 'local-network-access' }));
    return state;
  } catch {
    return 'unknown';
  }
}

const isPrivate = (host) => /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.)/.test(host) || host.endsWith('.local');
const isSafari = () => /^((?!chrome|chromium|android).)*safari/i.test(navigator.userAgent);
