/** Follow server-sent events (WHATWG HTML §9.2), and connect again where a stream ends or breaks off. */

import { createParser } from "eventsource-parser";
import { AnswerError, NoAnswerError } from "./errors.js";
import type { Fetching } from "./fetching.js";
import { sleep } from "./limits.js";

/** `data`: the parsed JSON. `id`: what a new connection sends as `Last-Event-ID`. */
export interface Event<Name extends string, Data> {
  name: Name;
  data: Data;
  id: string;
}

const SILENCE = 40; // seconds without a byte: more than two heartbeats
const RETRY = 3; // seconds before the next connection, until the stream says another number
const LONGEST_RETRY = 60;
const LONGEST_EVENT = 4 * 1024 * 1024; // characters

/** `cost`: as how many requests of the key opening it counts. `final`: the events that end it. */
export interface Stream {
  url: string;
  cost: number;
  final: ReadonlySet<string>;
}

/** Where a reader is in the stream, over all its connections. */
interface Place {
  lastId: string;
  retry: number;
}

/**
 * Yield events until a final one, or until `signal`. The service ends a stream after an hour, so an end is no failure;
 * `tries` short connections in a row without an event are.
 */
export async function* follow(
  fetching: Fetching,
  { url, cost, final }: Stream,
  signal: AbortSignal,
): AsyncGenerator<Event<string, unknown>, void, void> {
  const place: Place = { lastId: "", retry: RETRY };
  for (let failures = 0; ; ) {
    const startedAt = performance.now();
    let count = 0;
    let named: number | undefined;
    const isShort = (): boolean => count === 0 && performance.now() - startedAt < SILENCE * 1000;
    try {
      for await (const event of connection(fetching, url, cost, place, signal)) {
        count += 1;
        yield event;
        if (final.has(event.name)) return;
      }
      failures = isShort() ? failures + 1 : 0;
      if (failures >= fetching.tries) throw new NoAnswerError("The streams end at once.");
    } catch (error) {
      signal.throwIfAborted();
      const isAnswer = error instanceof AnswerError;
      failures = isAnswer || isShort() ? failures + 1 : 1;
      const mayHelp = isAnswer ? [429, 503].includes(error.status) : error instanceof NoAnswerError;
      if (!mayHelp || failures >= fetching.tries) throw error;
      named = isAnswer ? error.retryAfter : undefined;
    }
    const pause = named ?? place.retry * 2 ** Math.max(0, failures - 1);
    await sleep(Math.min(LONGEST_RETRY, pause) * (1 + Math.random() / 2), signal); // many followers do not come back at once
  }
}

async function* connection(
  fetching: Fetching,
  url: string,
  cost: number,
  place: Place,
  signal: AbortSignal,
): AsyncGenerator<Event<string, unknown>, void, void> {
  const silence = new AbortController();
  const both = AbortSignal.any([signal, silence.signal]);
  const watch = (): ReturnType<typeof setTimeout> => setTimeout(() => silence.abort(), SILENCE * 1000);
  let timer = watch();
  try {
    const headers = new Headers({ Accept: "text/event-stream" });
    if (place.lastId) headers.set("Last-Event-ID", place.lastId);
    const answer = await fetching.stream(new Request(url, { headers }), cost, both);
    const events: Event<string, unknown>[] = [];
    const parser = createParser({
      maxBufferSize: LONGEST_EVENT,
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") throw new NoAnswerError("An event of the stream is too long.");
      },
      onEvent: (event) => {
        if (event.id !== undefined) place.lastId = event.id;
        events.push({ name: event.event ?? "message", data: parsed(event.data), id: place.lastId });
      },
      onRetry: (milliseconds) => {
        place.retry = Math.min(LONGEST_RETRY, milliseconds / 1000);
      },
    });
    for await (const text of texts(answer, both)) {
      clearTimeout(timer);
      timer = watch();
      parser.feed(text);
      yield* events.splice(0);
    }
  } finally {
    clearTimeout(timer);
    silence.abort(); // closes the connection
  }
}

async function* texts(answer: Response, signal: AbortSignal): AsyncGenerator<string, void, void> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream(), { signal }).getReader();
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) yield part.value;
  } catch (error) {
    throw new NoAnswerError(`The stream broke off: ${error instanceof Error ? error.name : "unknown"}`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NoAnswerError("An event of the stream is no JSON.");
  }
}
