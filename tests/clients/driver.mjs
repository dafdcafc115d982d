// Calls the library as each line of JSON says, and prints a line of JSON for each: `value` or `error`.
import { createInterface } from "node:readline";
import { AnswerError, Hearth, HearthError } from "hearth-client";

const CALLS = {
  user: (hearth, given) => hearth.user(given),
  users: (hearth, given) => hearth.users(given),
  presence: (hearth, given) => hearth.presence(given.chat_id),
  presences: (hearth, given) => hearth.presences(given.chat_ids),
  leaderboard: (hearth, given) => hearth.leaderboard(given.board, given.limit),
  upload: (hearth, given) => hearth.upload(new Blob([Buffer.from(given.file, "base64")]), given.name),
  presence_events: (hearth, given) => taken(hearth.presenceEvents(given.chat_id), given.count),
  presences_events: (hearth, given) => taken(hearth.presencesEvents(given.chat_ids), given.count),
};

async function taken(events, count) {
  const found = [];
  for await (const event of events) {
    found.push(event);
    if (found.length === count) break;
  }
  return found;
}

function problem(error) {
  if (!(error instanceof HearthError)) throw error;
  const { name: kind, status = null, code = null, miss = null, retryAfter: retry_after = null } = error;
  const text = error instanceof AnswerError ? error.error : null;
  return { kind, status, code, miss, retry_after, error: text };
}

let hearth;
for await (const line of createInterface({ input: process.stdin })) {
  const { call, given } = JSON.parse(line);
  if (call === "connect") {
    const { base_url, key, ...options } = given;
    hearth = new Hearth(base_url, key, options);
    console.log(JSON.stringify({ value: (await import("node:util")).inspect(hearth, { depth: 9, showHidden: true }) }));
    continue;
  }
  const answer = await CALLS[call](hearth, given).then(
    (value) => ({ value }),
    (error) => ({ error: problem(error) }),
  );
  console.log(JSON.stringify(answer));
}
