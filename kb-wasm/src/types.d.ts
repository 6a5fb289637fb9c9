/** Thrown by every function here. `code` is stable, for example `kb::corrupt`. */
export interface KbError extends Error {
  code: string;
  /** What to do next, in English. */
  hint: string;
}

/** Which lists answer: words and meaning fused, words alone, meaning alone. */
export type Mode = "hybrid" | "lexical" | "vector";

/** Conditions on one key are alternatives, conditions on different keys must all hold. */
export interface Filter {
  /** `path` (a prefix), `lang`, `tag` or a metadata key. */
  key: string;
  value: string;
}

export interface Query {
  text: string;
  /** Most hits to return, 1 to 100; 10 if left out. */
  k?: number;
  mode?: Mode;
  /** Only these collections; all if empty. */
  collections?: string[];
  filters?: Filter[];
}

/** A range of a string in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

export interface Excerpt {
  /** Plain text; empty while the document's text is not loaded, see `Response.missing`. */
  text: string;
  /** What to mark, in order, not overlapping. */
  marks: Span[];
}

export interface Hit {
  /** 1 for the best. */
  rank: number;
  score: number;
  /** BM25 score, if the words matched. */
  lexicalScore?: number;
  /** Cosine, if the vectors proposed it. */
  vectorScore?: number;
  /** Stable id of the passage, 16 hex digits. */
  chunkId: string;
  collection: string;
  /** Path of the document in its collection. */
  path: string;
  title: string;
  /** Headings from the outermost to the passage's own. */
  headingPath: string[];
  /** Fragment identifier of the passage's heading, may be empty. */
  anchor: string;
  /** Where the source can be opened, fragment included. */
  url?: string;
  /** Language code of the document. */
  lang: string;
  excerpt: Excerpt;
}

export interface Response {
  hits: Hit[];
  /** Which lists answered: `lexical` for a hybrid query that came without candidates. */
  mode: Mode;
  /** Passages that hold one of the query's terms. */
  lexicalCandidates: number;
  /** Passages that the vectors proposed. */
  vectorCandidates: number;
  /** Share of the question's words, weighted by rarity, that the best passage has: 0 to 1. */
  coverage: number;
  /** Share of the question's words, weighted by rarity, that stand nowhere in the base: 0 to 1. */
  unknown: number;
  /** Files of text that must be added before every excerpt can be shown. */
  missing: string[];
}

export interface Section {
  kind: "docs" | "text" | "chunks" | "lexical" | "vectors" | "graph";
  /** Name of the file beside the manifest. */
  file: string;
  bytes: number;
  /** SHA-256 of the file in hex. */
  sha256: string;
}

export interface CollectionInfo {
  name: string;
  documents: number;
  chunks: number;
}

export interface DocumentInfo {
  /** For `document()`. */
  index: number;
  collection: string;
  path: string;
  title: string;
  lang: string;
  url?: string;
}

export interface Info {
  title: string;
  /** Main language as a code, may be empty. */
  language: string;
  /** Changes whenever answers may change. */
  id: string;
  chunks: number;
  collections: CollectionInfo[];
  documents: DocumentInfo[];
  /** Name of the model that searching by meaning needs; none for a base without vectors. */
  model?: string;
  /** What the encoder module needs of this base. */
  vectorSections: Section[];
}

export interface Heading {
  /** 1 to 6. */
  level: number;
  title: string;
  anchor: string;
  /** UTF-16 range of the heading and what is under it, up to the next heading. */
  start: number;
  end: number;
}

export interface DocumentText {
  /** Markdown. */
  text: string;
  sections: Heading[];
}

/** Passages near a question, best first: indexes of chunks and their cosines. */
export interface Candidates {
  ids: Uint32Array;
  scores: Float32Array;
}

/** A whole passage that an answer may rest on. */
export interface Passage {
  chunkId: string;
  collection: string;
  path: string;
  title: string;
  headingPath: string[];
  anchor: string;
  /** Markdown. */
  text: string;
}

export type Provider = "ollama" | "deepseek" | "openai-compatible";

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** What is left out has its default: 2048, 8192, 0.2, "5m", nothing said about thinking. */
export interface ChatSettings {
  model: string;
  maxTokens?: number;
  numCtx?: number;
  temperature?: number;
  keepAlive?: string;
  think?: boolean;
}

export interface ChatRequest {
  /** For a POST with `content-type: application/json`. */
  url: string;
  body: string;
}

export interface Prompt {
  messages: ChatMessage[];
  /** The passages that are in it, the last one perhaps cut; `AnswerStream` takes these. */
  passages: Passage[];
  /** The sentence that says that nothing was found. */
  refusal: string;
  estimatedTokens: number;
  /** Language of the question, for messages: `zh` or `en`. */
  language: string;
}

export interface Turn {
  question: string;
  answer: string;
}

/** A piece of an answer: text (Markdown, untrusted) or a citation. */
export interface AnswerSegment {
  kind: "text" | "citation";
  text?: string;
  /** The number to show. */
  n?: number;
  /** Index of the passage among those of the prompt. */
  passage?: number;
}

/** What a piece of a reply says. After `error` or `end` nothing follows. */
export interface AnswerEvent {
  kind: "reasoning" | "text" | "citation" | "startAgain" | "usage" | "error" | "end";
  text?: string;
  n?: number;
  passage?: number;
  promptTokens?: number;
  completionTokens?: number;
  /** `stop`, `length`, `filtered`, `interrupted` */
  reason?: string;
  failure?: Failure;
}

export interface Failure {
  /** Stable, for example `llm::wrong_key`. */
  code: string;
  /** What happened and what to do, in the language that was asked for. */
  sentence: string;
  /** The server's own words, may be empty. */
  message: string;
  status?: number;
  /** Whether the same request may succeed a little later. */
  mayPass: boolean;
}

export interface SentenceSupport {
  /** UTF-16 range in the answer's text without its citations. */
  start: number;
  end: number;
  passages: number[];
  support: number;
  verdict: "supported" | "weak" | "uncited" | "unknown" | "noclaim";
}

export interface AnswerCheck {
  sentences: SentenceSupport[];
  confidence: number;
  refused: boolean;
  /** Citations that named no passage and were taken out. */
  unresolved: number;
  /** Indices of the cited passages in the order of their numbers. */
  order: number[];
  /** The answer with its citations as `[1]`. */
  text: string;
}

export interface Relevance {
  /** 0 to 1. */
  score: number;
  /** If false, no model should be called. */
  relevant: boolean;
}
