export type { Board, MemberEvent, PresenceEvent, Schemas, UserQuery, UsersQuery } from "./client.js";
export { Hearth } from "./client.js";
export { AnswerError, HearthError, NoAnswerError, WaitTooLongError } from "./errors.js";
export type { Options } from "./fetching.js";
export type { paths } from "./openapi.js";
export type { Event } from "./streams.js";
