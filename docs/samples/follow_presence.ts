/**
 * Print the status of a user's chat account, now and after every change, with the client library.
 *
 * Keys with `lookup:user` and `lookup:presence` are in USER_KEY and PRESENCE_KEY. Node 22.18 or newer runs it as it is:
 * `node docs/samples/follow_presence.ts http://127.0.0.1:8000 ada`.
 */

import { AnswerError, Hearth } from "hearth-client";

async function follow(baseUrl: string, username: string): Promise<void> {
  const people = new Hearth(baseUrl, process.env.USER_KEY ?? "");
  const { user } = await people.user({ type: "username", value: username });
  if (user.chatId === null) throw new Error(`${user.username} has linked no chat account.`);
  const presence = new Hearth(baseUrl, process.env.PRESENCE_KEY ?? "");
  for await (const event of presence.presenceEvents(user.chatId)) {
    const status = event.name === "presence" ? event.data.status.status : event.name;
    console.log(`${user.username}: ${status}`);
  }
}

try {
  const [baseUrl = "", username = ""] = process.argv.slice(2);
  await follow(baseUrl, username);
} catch (error) {
  if (!(error instanceof AnswerError)) throw error;
  console.error(`The service says ${error.status}: ${error.code ?? error.error}`);
  process.exitCode = 1;
}
