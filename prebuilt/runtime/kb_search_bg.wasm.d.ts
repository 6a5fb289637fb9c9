/* tslint:disable */
/* eslint-disable */
export const memory: WebAssembly.Memory;
export const __wbg_knowledgebase_free: (a: number, b: number) => void;
export const knowledgebase_addSection: (a: number, b: number, c: number, d: number, e: number) => [number, number];
export const knowledgebase_allowed: (a: number, b: any) => [number, number, number];
export const knowledgebase_candidateCount: (a: number, b: any) => [number, number, number];
export const knowledgebase_document: (a: number, b: number) => [number, number, number];
export const knowledgebase_finish: (a: number) => [number, number];
export const knowledgebase_info: (a: number) => [number, number, number];
export const knowledgebase_missingText: (a: number, b: number) => [number, number, number, number];
export const knowledgebase_new: (a: number, b: number) => [number, number, number];
export const knowledgebase_passage: (a: number, b: number, c: number, d: number) => [number, number, number];
export const knowledgebase_ready: (a: number) => number;
export const knowledgebase_search: (a: number, b: any, c: number, d: number, e: number, f: number) => [number, number, number];
export const knowledgebase_sections: (a: number) => [number, number, number];
export const knowledgebase_wantedTerms: (a: number) => [number, number];
export const start: () => void;
export const __wbindgen_malloc: (a: number, b: number) => number;
export const __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
export const __wbindgen_free: (a: number, b: number, c: number) => void;
export const __wbindgen_exn_store: (a: number) => void;
export const __externref_table_alloc: () => number;
export const __wbindgen_externrefs: WebAssembly.Table;
export const __externref_table_dealloc: (a: number) => void;
export const __wbindgen_start: () => void;
