/** `fetch` with the key, kept answers, budgets and retries. A redirect is never followed. */

import { AnswerError, NoAnswerError } from "./errors.js";
import { Budgets, readRetryAfter, Wait } from "./limits.js";

export interface Options {
  /** Seconds until an answer has to be there; 30. */
  timeout?: number;
  /** How often a call is sent at most; 4. */
  tries?: number;
  /** Seconds that a call waits for limits and between tries at most; 90. */
  patience?: number;
  /** How many answers are kept for conditional requests; 256. */
  kept?: number;
  /** In place of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

const LARGEST_KEPT = 8 * 1024 * 1024; // characters of all kept bodies
const LONGEST_PAUSE = 30; // seconds before a retry for which the service named no time
/** A read that is a POST, since its list may be long. */
const READ = /\/api\/lookup\/users$/;
/** The earlier forms take the key as a bearer token. */
const EARLIER = /\/api\/(?:leaderboard|imagehost\/(?:gallery|folders))(?:\/|$)/;

/** The latest `size` answers that have an ETag, by URL: what a 304 stands for. */
class Kept {
  private readonly answers = new Map<string, { etag: string; body: string }>();
  private characters = 0;

  constructor(private readonly size: number) {}

  find(url: string): { etag: string; body: string } | undefined {
    return this.answers.get(url);
  }

  keep(url: string, etag: string, body: string): void {
    this.drop(url);
    if (this.size < 1 || body.length > LARGEST_KEPT) return;
    this.answers.set(url, { etag, body });
    this.characters += body.length;
    for (const oldest of this.answers.keys()) {
      if (this.answers.size <= this.size && this.characters <= LARGEST_KEPT) return;
      this.drop(oldest);
    }
  }

  private drop(url: string): void {
    this.characters -= this.answers.get(url)?.body.length ?? 0;
    this.answers.delete(url);
  }
}

/** The kept answers and budgets of one key. */
export class Fetching {
  readonly #key: string; // private at run time, too: no program prints it by printing the client
  private readonly timeout: number;
  private readonly patience: number;
  private readonly fetch: typeof globalThis.fetch;
  private readonly kept: Kept;
  private readonly budgets = new Budgets();
  readonly tries: number;

  constructor(key: string, options: Options) {
    if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError("The API key is empty or has characters that no key has.");
    this.#key = key;
    this.timeout = options.timeout ?? 30;
    this.tries = options.tries ?? 4;
    this.patience = options.patience ?? 90;
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.kept = new Kept(options.kept ?? 256);
    if (this.tries < 1) throw new TypeError("A call is sent at least once.");
  }

  /** Answer with a 2xx. Rejects with AnswerError, NoAnswerError, WaitTooLongError. */
  call = (request: Request): Promise<Response> => this.calling(1)(request);

  /** As `call`, for requests that count as `cost` of the key. */
  calling = (cost: number) => async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const wait = new Wait(this.patience, request.signal);
    const isRead = request.method === "GET" || READ.test(pathname);
    const known = request.method === "GET" ? this.kept.find(request.url) : undefined;
    for (let attempt = 1; ; attempt += 1) {
      let pause = Math.min(LONGEST_PAUSE, 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
      try {
        const limit = AbortSignal.timeout(this.timeout * 1000);
        const answer = await this.send(request.clone(), cost, wait, limit, known?.etag);
        if (answer.status === 304 && known) return kept(known.body);
        if (answer.ok) return await this.body(request, answer);
        throw await errorOf(answer);
      } catch (error) {
        request.signal.throwIfAborted();
        const mayHelp = error instanceof AnswerError ? error.status === 429 || (isRead && error.status >= 500) : isRead;
        if (!(error instanceof AnswerError || error instanceof NoAnswerError) || !mayHelp) throw error;
        const named = error instanceof AnswerError ? error.retryAfter : undefined;
        if (attempt === this.tries || (named ?? 0) > wait.left) throw error;
        pause = named ?? pause;
      }
      await wait.spend(Math.min(pause, wait.left));
    }
  };

  /** Open an event stream, once; it lasts until `signal`. Rejects as `call`. */
  async stream(request: Request, cost: number, signal: AbortSignal): Promise<Response> {
    const answer = await this.send(request, cost, new Wait(this.patience, signal), signal);
    if (answer.status === 200) return answer;
    throw await errorOf(answer);
  }

  private async send(
    request: Request,
    cost: number,
    wait: Wait,
    limit: AbortSignal,
    etag?: string,
  ): Promise<Response> {
    await this.budgets.take(wait, cost);
    const headers = new Headers(request.headers);
    if (EARLIER.test(new URL(request.url).pathname)) headers.set("Authorization", `Bearer ${this.#key}`);
    else headers.set("X-API-Key", this.#key);
    if (etag) headers.set("If-None-Match", etag);
    const signal = AbortSignal.any([request.signal, limit]);
    let answer: Response;
    try {
      // The answers are kept here: a browser's own store would hide a 304.
      answer = await this.fetch(new Request(request, { headers, redirect: "manual", cache: "no-store", signal }));
    } catch (error) {
      throw new NoAnswerError(`No answer: ${error instanceof Error ? error.name : "unknown"}`);
    }
    this.budgets.note(answer.headers.get("RateLimit"));
    return answer;
  }

  private async body(request: Request, answer: Response): Promise<Response> {
    let text: string;
    try {
      text = await answer.text();
      // Node before 22 takes a body that is cut off for a whole one.
      if (answer.headers.get("Content-Type")?.includes("json")) JSON.parse(text);
    } catch (error) {
      throw new NoAnswerError(`The answer broke off: ${error instanceof Error ? error.name : "unknown"}`);
    }
    const etag = answer.headers.get("ETag");
    if (request.method === "GET" && etag) this.kept.keep(request.url, etag, text);
    return kept(text, answer.headers);
  }
}

function kept(body: string, headers: HeadersInit = { "Content-Type": "application/json" }): Response {
  const copied = new Headers(headers);
  copied.delete("Content-Length"); // of the compressed body
  return new Response(body, { headers: copied });
}

/** Read an error of any of the service's forms; a proxy's page has no `code`. */
async function errorOf(answer: Response): Promise<AnswerError> {
  const text = await answer.text().catch(() => "");
  let body: Record<string, unknown> = {};
  try {
    body = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    // Not JSON: the status says what is known.
  }
  const word = (name: string): string | undefined => (typeof body[name] === "string" ? body[name] : undefined);
  const error = (word("error") ?? word("message") ?? answer.statusText) || "no text";
  const retryAfter = readRetryAfter(answer.headers.get("Retry-After"));
  return new AnswerError(answer.status, error.slice(0, 500), word("code"), word("miss"), retryAfter);
}
