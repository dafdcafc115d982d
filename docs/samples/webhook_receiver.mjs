// Receive webhooks: verify each one with the published library, print it, answer at once.
// The secret is in WEBHOOK_SECRET, the port in PORT. `npm install standardwebhooks`, then run this file with Node 22.

import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const seen = new Set(); // in your app: a table, written in the transaction of the work

async function receive(request, response) {
  const parts = await Array.fromAsync(request);
  let event;
  try {
    event = webhook.verify(Buffer.concat(parts).toString(), request.headers);
  } catch {
    response.writeHead(400).end();
    return;
  }
  if (!seen.has(request.headers["webhook-id"])) {
    seen.add(request.headers["webhook-id"]);
    console.log(event.type, JSON.stringify(event.data)); // in your app: put it into a queue
  }
  response.writeHead(204).end();
}

createServer(receive).listen(Number(process.env.PORT), "127.0.0.1");
