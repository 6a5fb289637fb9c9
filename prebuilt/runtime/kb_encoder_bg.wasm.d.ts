/* tslint:disable */
/* eslint-disable */
export const memory: WebAssembly.Memory;
export const __wbg_encoder_free: (a: number, b: number) => void;
export const encoder_addSection: (a: number, b: number, c: number, d: number, e: number) => [number, number];
export const encoder_candidates: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number, number];
export const encoder_embed: (a: number, b: number, c: number) => [number, number, number];
export const encoder_know: (a: number, b: number, c: number, d: number, e: number) => [number, number];
export const encoder_knows: (a: number, b: number, c: number) => number;
export const encoder_load: (a: number, b: number, c: number, d: number, e: number, f: number, g: number) => [number, number];
export const encoder_new: (a: number, b: number) => [number, number, number];
export const encoder_share: (a: number, b: number) => [number, number];
export const encoder_similarities: (a: number, b: number, c: number, d: number, e: number) => [number, number, number];
export const start: () => void;
export const __wbindgen_malloc_command_export: (a: number, b: number) => number;
export const __wbindgen_realloc_command_export: (a: number, b: number, c: number, d: number) => number;
export const __wbindgen_free_command_export: (a: number, b: number, c: number) => void;
export const __wbindgen_exn_store_command_export: (a: number) => void;
export const __externref_table_alloc_command_export: () => number;
export const __wbindgen_externrefs: WebAssembly.Table;
export const __externref_table_dealloc_command_export: (a: number) => void;
export const __externref_drop_slice_command_export: (a: number, b: number) => void;
export const __wbindgen_start: () => void;
