export { type Board, Hearth, type PresenceEvent, type Schemas, type UserQuery } from "./client.js";
export { AnswerError, HearthError, NoAnswerError, WaitTooLongError } from "./errors.js";
export type { Options } from "./fetching.js";
export type { paths } from "./openapi.js";
export type { Event } from "./streams.js";
