/** The base of every error of this library. */
export class HearthError extends Error {
  override name = "HearthError";
}

/** The service answered with an error. A program decides by `status` and `code`; `error` is the service's text. */
export class AnswerError extends HearthError {
  override name = "AnswerError";

  constructor(
    readonly status: number,
    readonly error: string,
    /** Undefined where the service gives none. */
    readonly code?: string,
    /** Why a presence is not there. */
    readonly miss?: string,
    /** Seconds. */
    readonly retryAfter?: number,
  ) {
    super(`${status} ${code ?? error}`);
  }
}

/** The service could not be reached, did not answer in time, or broke off. */
export class NoAnswerError extends HearthError {
  override name = "NoAnswerError";
}

/** A limit is used up and opens again in `retryAfter` seconds, later than the client's `patience`. */
export class WaitTooLongError extends HearthError {
  override name = "WaitTooLongError";

  constructor(readonly retryAfter: number) {
    super(`The next request is allowed in ${retryAfter} seconds.`);
  }
}
