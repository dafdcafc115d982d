/** `Hearth`: the calls of programs, one method each; `api` has every endpoint. */

import createClient, { type Client } from "openapi-fetch";
import { Fetching, type Options } from "./fetching.js";
import type { components, operations, paths } from "./openapi.js";
import { type Event, follow } from "./streams.js";

export type Schemas = components["schemas"];
export type UserQuery = operations["lookup_user"]["parameters"]["query"];
type Batch = Schemas["LookupBatchRequest"];
export type UsersQuery = Pick<Batch, "type" | "values"> & Partial<Batch>;
export type Board = "views" | "badges" | "uid";

export type PresenceEvent =
  | Event<"presence", Schemas["Presence"]>
  | Event<"unavailable" | "closed", Schemas["Error"]>
  | Event<"gone", Schemas["Miss"]>;

/** An event of a stream of several members. `data.id`: whose. */
export type MemberEvent =
  | Event<"presence", { id: string; presence: Schemas["Presence"] }>
  | Event<"unavailable", Schemas["Error"] & { id: string }>
  | Event<"gone", Schemas["Miss"] & { id: string }>
  | Event<"closed", Schemas["Error"]>;

const NEVER = new AbortController().signal;

/** A client of one service with one API key. */
export class Hearth {
  /** Every endpoint of the OpenAPI document, typed, with the key, kept answers, budgets and retries. */
  readonly api: Client<paths>;
  private readonly baseUrl: string;
  private readonly fetching: Fetching;

  constructor(baseUrl: string, key: string, options: Options = {}) {
    const { protocol, username, search } = new URL(baseUrl);
    if (!/^https?:$/.test(protocol) || username || search) {
      throw new TypeError("The base URL is http or https, a host, and nothing secret.");
    }
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    this.fetching = new Fetching(key, options);
    this.api = createClient<paths>({ baseUrl: this.baseUrl, fetch: this.fetching.call });
  }

  /** Return a user: `user({ type: "username", value: "ada", links: true })`. Needs `lookup:user`. */
  async user(query: UserQuery, signal: AbortSignal = NEVER): Promise<Schemas["CurrentLookup"]> {
    return found(await this.api.GET("/api/lookup/user", { params: { query }, signal }));
  }

  /**
   * Return up to 50 users: `users({ type: "uid", values: ["1", "2"], badges: true })`. `results` has a user or an error
   * for each value, in their order. It counts as a request for each ten begun. Needs `lookup:user`.
   */
  async users(body: UsersQuery, signal: AbortSignal = NEVER): Promise<Schemas["LookupResults"]> {
    const fetch = this.fetching.calling(costOf(body.values));
    return found(await this.api.POST("/api/lookup/users", { body: body as Batch, fetch, signal }));
  }

  /** Return the presence of a member of the chat server. Needs `lookup:presence`. */
  async presence(chatId: string, signal: AbortSignal = NEVER): Promise<Schemas["Presence"]> {
    const params = { path: { chat_id: chatId } };
    return found(await this.api.GET("/api/lookup/presence/{chat_id}", { params, signal }));
  }

  /**
   * Return the presence of up to 50 members, or an error for each, in their order. It counts as a request for each ten
   * begun. Needs `lookup:presence`.
   */
  async presences(chatIds: readonly string[], signal: AbortSignal = NEVER): Promise<Schemas["Presences"]> {
    const params = { query: { ids: chatIds.join(",") } };
    const fetch = this.fetching.calling(costOf(chatIds));
    return found(await this.api.GET("/api/lookup/presence", { params, fetch, signal }));
  }

  /**
   * Yield the presence of a member now and after every change, until it can no longer be seen. Events are `presence`,
   * `unavailable`, and at the end `gone` or `closed`. Needs `lookup:presence`.
   */
  presenceEvents(chatId: string, signal: AbortSignal = NEVER): AsyncGenerator<PresenceEvent, void, void> {
    const url = `${this.baseUrl}/api/lookup/presence/${encodeURIComponent(chatId)}/events`;
    const events = follow(this.fetching, { url, cost: 1, final: new Set(["gone", "closed"]) }, signal);
    return events as AsyncGenerator<PresenceEvent, void, void>;
  }

  /**
   * Yield the presence of up to 100 members now and after every change; `data.id` says whose. A member who is `gone`
   * may come back, so that only `closed` ends the stream. Needs `lookup:presence`.
   */
  presencesEvents(chatIds: readonly string[], signal: AbortSignal = NEVER): AsyncGenerator<MemberEvent, void, void> {
    const url = `${this.baseUrl}/api/lookup/presence/events?ids=${encodeURIComponent(chatIds.join(","))}`;
    const events = follow(this.fetching, { url, cost: costOf(chatIds), final: new Set(["closed"]) }, signal);
    return events as AsyncGenerator<MemberEvent, void, void>;
  }

  /** Return the first `limit` entries of a leaderboard. Needs `account`. */
  async leaderboard(board: Board, limit = 10, signal: AbortSignal = NEVER): Promise<Schemas["BoardEntry"][]> {
    return found(await this.api.GET(`/api/leaderboard/${board}`, { params: { query: { limit } }, signal }));
  }

  /**
   * Store a picture or video of at most the plan's size, and return its link. It is sent again only after a 429, when
   * nothing was stored. Needs `imagehost:upload`.
   */
  async upload(file: Blob, name: string, signal: AbortSignal = NEVER): Promise<Schemas["Upload"]> {
    const form = new FormData();
    form.append("file", file, name);
    const bodySerializer = (): FormData => form;
    const body = { file: name }; // what the types ask for; the form is sent
    return found(await this.api.POST("/api/imagehost/upload", { body, bodySerializer, signal })) as Schemas["Upload"];
  }
}

/** Return the body: `Fetching` rejects where there is none. */
function found<Data>(answer: { data?: Data }): Data {
  return answer.data as Data;
}

/** Return as how many requests of the key a request for several counts: one for each ten begun. */
function costOf(asked: readonly string[]): number {
  return Math.max(1, Math.ceil(asked.length / 10));
}
