/** When the next request may be sent: `RateLimit`, `Retry-After`, and the bound on all waits of one call. */

import { WaitTooLongError } from "./errors.js";

const KEY = "key"; // the policy of which a request for many may take several
const LONGEST_HEADER = 1024; // characters; a longer one is ignored

/** Seconds on a clock that nobody sets. */
const now = (): number => performance.now() / 1000;

export interface Budget {
  remaining: number;
  seconds: number;
}

/** Read what each policy has left, and when its window ends: RateLimit of draft-ietf-httpapi-ratelimit-headers-10. */
export function readBudgets(header: string): Map<string, Budget> {
  const found = new Map<string, Budget>();
  const items = header.slice(0, LONGEST_HEADER).matchAll(/"([^"]{1,64})"((?:\s*;\s*[a-z]{1,16}=\d{1,9})*)/g);
  for (const [, name = "", rest = ""] of items) {
    const remaining = /;\s*r=(\d+)/.exec(rest)?.[1];
    const seconds = /;\s*t=(\d+)/.exec(rest)?.[1];
    if (remaining && seconds) found.set(name, { remaining: Number(remaining), seconds: Number(seconds) });
  }
  return found;
}

/** Read the seconds of `Retry-After`, a number or a date (RFC 9110 §10.2.3). */
export function readRetryAfter(header: string | null): number | undefined {
  const text = (header ?? "").trim().slice(0, 64);
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

/** Resolve after `seconds`. Rejects with the signal's reason. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      fail(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      done();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** What one call may still wait, in seconds. */
export class Wait {
  constructor(
    public left: number,
    private readonly signal?: AbortSignal,
  ) {}

  /** Sleep. Rejects with WaitTooLongError where less is left. */
  async spend(seconds: number): Promise<void> {
    if (seconds > this.left) throw new WaitTooLongError(Math.ceil(seconds));
    this.left -= seconds;
    await sleep(seconds, this.signal);
  }
}

/** The requests that the service's limits have left. */
export class Budgets {
  private byPolicy = new Map<string, { remaining: number; resetsAt: number }>();

  /** Count a request that counts as `cost` of the key, after a wait where a policy has less left. */
  async take(wait: Wait, cost: number): Promise<void> {
    for (let seconds = this.try(cost); seconds > 0; seconds = this.try(cost)) await wait.spend(seconds);
  }

  /**
   * Take over what an answer says. Requests that are under way may not be counted in it, so that within a window the
   * smaller number holds.
   */
  note(header: string | null): void {
    for (const [name, { remaining, seconds }] of readBudgets(header ?? "")) {
      const known = this.byPolicy.get(name);
      const resetsAt = now() + seconds;
      const isSame = known !== undefined && Math.abs(known.resetsAt - resetsAt) < 2;
      this.byPolicy.set(name, {
        remaining: isSame ? Math.min(known.remaining, remaining) : remaining,
        resetsAt: isSame ? Math.max(known.resetsAt, resetsAt) : resetsAt,
      });
    }
  }

  /** Count a request and return 0, or return the seconds until one may be allowed. */
  private try(cost: number): number {
    const open = [...this.byPolicy].filter(([, budget]) => budget.resetsAt > now());
    this.byPolicy = new Map(open);
    const taken = (name: string): number => (name === KEY ? cost : 1);
    const spent = open.filter(([name, budget]) => budget.remaining < taken(name));
    if (spent.length > 0) return Math.max(0.001, ...spent.map(([, budget]) => budget.resetsAt - now()));
    for (const [name, budget] of open) budget.remaining -= taken(name);
    return 0;
  }
}
