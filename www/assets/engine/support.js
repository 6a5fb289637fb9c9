// What this browser can and is allowed to do.

// The smallest module that uses a SIMD instruction: (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt).
const simdModule = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
// The smallest module at all: `\0asm`, version 1.
const emptyModule = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);

/** Whether WebAssembly is there and has 128-bit SIMD. */
export const hasSimd = () => typeof WebAssembly === 'object' && WebAssembly.validate(simdModule);

/**
 * Why WebAssembly cannot be used here, as an error code, or nothing if it can.
 * A content security policy without 'wasm-unsafe-eval' lets `validate` pass and fails only when something is compiled.
 * @returns {Promise<string | undefined>}
 */
export async function wasmProblem() {
  if (typeof WebAssembly !== 'object') return 'wasm::unsupported';
  try {
    await WebAssembly.compile(emptyModule);
    return undefined;
  } catch {
    return 'wasm::blocked';
  }
}

/** Whether the device says that it has too little memory for the model, which needs 130 MB: a browser of a gigabyte ends pages for less. */
export const isSmall = () => (/** @type {any} */ (navigator).deviceMemory ?? Infinity) <= 1;

/** Whether the reader has asked the browser to save data. */
export const savesData = () => /** @type {any} */ (navigator).connection?.saveData === true;
