/** Thrown by every function here. `code` is stable, for example `kb::corrupt`. */
export interface KbError extends Error {
  code: string;
  /** What to do next, in English. */
  hint: string;
}

/** Which lists answer: words and meaning fused, words alone, meaning alone. */
export type Mode = "hybrid" | "lexical" | "vector";

/** Conditions on one key are alternatives, conditions on different keys must all hold, turned-round ones must not. */
export interface Filter {
  /** `path` (a prefix), `lang`, `tag` or a metadata key; with `!` at its end the condition is turned round, with `>` or `<` a date or number is at least or at most the value. */
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
  /** Whether the reader is still typing: the last word is then taken as the beginning of one. */
  unfinished?: boolean;
  /** Whether passages that say nearly the same as a better hit are hits as well. */
  keepDuplicates?: boolean;
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
  /** What sort of passage it is: `text`, `concept`, `steps`, `parameters`, `warning`, `code`, `table`, … */
  kind: string;
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
  /** Share of the question's words, by rarity, that the passage with most of them has, 0 to 1. */
  coverage: number;
  /** Share of the question's words, weighted by rarity, that stand nowhere in the base: 0 to 1. */
  unknown: number;
  /** Files of text that must be added before every excerpt can be shown. */
  missing: string[];
}

export interface Section {
  kind: "docs" | "text" | "chunks" | "lexical" | "vectors" | "graph" | "terms";
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
  /** What the author replaces of the words that a language model gets; for `Answer`. */
  templates?: TemplateChanges;
}

/** Words in place of those that come with the program; what is left out stays. */
export interface TemplateChange {
  system?: string;
  /** Holds `{passages}` and `{question}`. */
  user?: string;
  refusal?: string;
  rewrite?: string;
}

export interface TemplateChanges {
  /** For questions in Chinese. */
  zh?: TemplateChange;
  /** For all others. */
  en?: TemplateChange;
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

/** A passage that an answer may rest on. */
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

/** A piece of an answer: Markdown as it was written, or a citation: `n` is its number, `passage` an index from 0. */
export type Segment = { kind: "text"; text: string } | { kind: "citation"; n: number; passage: number };

/** Whether a knowledge base has anything to say about a question. */
export interface Relevance {
  /** 0 to 1. */
  score: number;
  relevant: boolean;
}

export interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

export interface Turn {
  question: string;
  answer: string;
}

export interface Prompt {
  messages: Message[];
  /** The passages that had room, numbered from 1 in this order; the last may be cut. */
  passages: Passage[];
  /** The sentence that says that nothing was found. */
  refusal: string;
  estimatedTokens: number;
}

/** How far a sentence of an answer is backed by what it cites. `start` and `end` are UTF-16 offsets in the answer without citations. */
export interface SentenceSupport {
  start: number;
  end: number;
  verdict: "supported" | "weak" | "uncited" | "unknown" | "noclaim";
}

/** A sentence whose words do not say whether a passage backs it. */
export interface Doubt {
  sentence: string;
  /** Index of a passage that it cites. */
  passage: number;
}

export interface Checked {
  sentences: SentenceSupport[];
  /** The smaller of the search's relevance and the share of the answer that is backed, 0 to 1. */
  confidence: number;
  /** Whether the answer says that nothing was found. */
  refused: boolean;
}

export interface ProviderInfo {
  name: "ollama" | "deepseek" | "openai-compatible";
  /** Where it is unless the reader says otherwise; empty if it has to be said. */
  baseUrl: string;
}

/** How to reach a language model. */
export interface ChatSettings {
  provider: ProviderInfo["name"];
  /** The provider's own address if empty. */
  baseUrl: string;
  model: string;
  /** Sent to this address only, as a bearer token. */
  key: string;
  maxTokens: number;
  /** The model's window in tokens. */
  numCtx: number;
  temperature: number;
  keepAlive: string;
  /** The language of the sentences in errors: `zh`, or English. */
  lang: string;
}

/** What arrives while a model writes. */
export type ReplyEvent =
  | Segment
  | { kind: "reasoning"; text: string }
  /** All text so far was the model thinking aloud. */
  | { kind: "restart" }
  /** The connection lives, but nothing was said. */
  | { kind: "waiting" };

export interface ReplyEnd {
  promptTokens: number;
  completionTokens: number;
  reason: "stop" | "length" | "filtered" | "interrupted";
  /** Citations that named no passage and were taken out. */
  unresolved: number;
  /** Whether the server has cut the beginning of the prompt off. */
  cut: boolean;
}

/** Thrown by `Chat`: `code` is `llm::…`, `message` what to do in the reader's language. */
export interface ChatError extends Error {
  code: string;
  /** HTTP status, where there was one. */
  status?: number;
  /** Whether the same request may succeed a little later. */
  mayPass: boolean;
}

/** What to POST to an embedding service. */
export interface ServiceRequest {
  url: string;
  /** JSON. */
  body: string;
}
