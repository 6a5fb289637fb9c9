// Requests to a worker: each has an id, can be cancelled, and fails with a code and a hint.

/**
 * An error that crosses the worker's border: `code` is stable (`kb::corrupt`), `hint` says what to do next.
 */
export class EngineError extends Error {
  /** @param {string} code @param {string} message @param {string} [hint] */
  constructor(code, message, hint = '') {
    super(message);
    this.name = 'EngineError';
    this.code = code;
    this.hint = hint;
  }
}

/** The code of whatever was thrown; `engine::trap` where WebAssembly itself stopped. */
export function codeOf(error) {
  if (typeof error?.code === 'string') return error.code;
  if (typeof WebAssembly !== 'undefined' && error instanceof WebAssembly.RuntimeError) return 'engine::trap';
  if (error instanceof RangeError) return 'engine::memory';
  return 'unknown';
}

/** What `await` throws when a request was given up because a newer one made it useless. */
export const cancelled = () => new DOMException('given up for a newer request', 'AbortError');

/** The page's end. */
export class RpcClient {
  /** @type {Worker | undefined} */ #worker;
  #pending = new Map();
  #next = 1;
  #onEvent;
  #onCrash;

  /**
   * @param {() => Worker} start starts the worker
   * @param {{ onEvent?: (name: string, data: any) => void, onCrash?: (error: EngineError) => void }} handlers
   *   `onCrash` is called once, when the worker can answer nothing more.
   */
  constructor(start, { onEvent = () => {}, onCrash = () => {} } = {}) {
    this.#onEvent = onEvent;
    this.#onCrash = onCrash;
    try {
      this.#worker = start();
    } catch (error) {
      throw new EngineError('worker::blocked', String(error));
    }
    let spoke = false;
    const worker = this.#worker;
    // A worker that the browser ends says nothing. It holds a lock while it lives: who gets it knows that it is gone.
    const life = `kb-worker-${Math.random().toString(36).slice(2)}${Date.now().toString(36)}`;
    if (navigator.locks) worker.postMessage({ hold: life });
    worker.onmessage = ({ data }) => {
      spoke = true;
      if (data.held) {
        navigator.locks.request(life, () => {
          if (this.#worker === worker) this.#crash(new EngineError('engine::trap', 'the worker was ended'));
        }).catch(() => {}); // the page goes
        return;
      }
      if (data.event) this.#onEvent(data.event, data.data);
      else this.#settle(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#crash(new EngineError(spoke ? 'engine::trap' : 'worker::blocked', event.message ?? 'the worker did not start'));
    };
  }

  /**
   * @param {string} method @param {any[]} args
   * @param {{ signal?: AbortSignal, transfer?: Transferable[] }} [options]
   * @returns {Promise<any>}
   */
  call(method, args, { signal, transfer = [] } = {}) {
    if (!this.#worker) return Promise.reject(new EngineError('engine::trap', 'the worker has stopped'));
    if (signal?.aborted) return Promise.reject(cancelled());
    const worker = this.#worker;
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      worker.postMessage({ id, method, args }, transfer);
      signal?.addEventListener('abort', () => {
        if (!this.#pending.delete(id)) return;
        this.#worker?.postMessage({ cancel: id });
        reject(cancelled());
      }, { once: true });
    });
  }

  /** Stops the worker; requests that still wait are given up. */
  stop() {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject } of this.#pending.values()) reject(cancelled());
    this.#pending.clear();
  }

  #settle({ id, value, error }) {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    if (!error) return waiting?.resolve(value);
    const failure = new EngineError(error.code, error.message, error.hint);
    waiting?.reject(failure);
    // After a trap the module's memory can no longer be trusted.
    if (error.code === 'engine::trap' || error.code === 'engine::memory') this.#crash(failure);
  }

  #crash(error) {
    if (!this.#worker) return;
    this.#worker.terminate();
    this.#worker = undefined;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#onCrash(error);
  }
}

/**
 * The worker's end: begins requests one after the other, and drops those that were cancelled before their turn came.
 * @param {Record<string, (...args: any[]) => any>} methods
 */
export function serve(methods) {
  /** @type {{ id: number, method: string, args: any[] }[]} */
  let queue = [];
  let running = false;

  const answer = async ({ id, method, args }) => {
    try {
      const value = await methods[method](...args);
      self.postMessage({ id, value });
    } catch (error) {
      self.postMessage({ id, error: { code: codeOf(error), message: error?.message ?? String(error), hint: error?.hint ?? '' } });
    }
  };
  const run = async () => {
    running = true;
    // A turn of the event loop before each request lets cancellations that were posted after it arrive first.
    while (await new Promise((next) => setTimeout(next, 0)), queue.length) {
      answer(/** @type {any} */ (queue.shift()));
    }
    running = false;
  };
  self.onmessage = ({ data }) => {
    if (data.hold) {
      navigator.locks?.request(data.hold, () => {
        self.postMessage({ held: true });
        return new Promise(() => {});
      }).catch(() => {}); // pages from the disk may have no locks
      return;
    }
    if (data.cancel) {
      queue = queue.filter((request) => request.id !== data.cancel);
      return;
    }
    queue.push(data);
    if (!running) run();
  };
}

/** Tells the page something that no request asked for. @param {string} event @param {any} data */
export const emit = (event, data) => self.postMessage({ event, data });
