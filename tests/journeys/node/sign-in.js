// An app that signs people in with openid-client. It talks to its caller in lines of JSON:
//   in   {"issuer", "client_id", "client_secret", "redirect_url", "scope", "auth_method"}
//   out  {"url"}: where the person's browser goes
//   in   {"callback"}: where the browser came back
//   out  {"tokens", "claims", "userinfo", "refreshed", "active", "inactive"}: what the library made of it
// The library checks every answer; what it refuses ends this program.

import * as client from "openid-client"
import { createInterface } from "node:readline"

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const read = async () => JSON.parse((await lines.next()).value)
const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)

const METHODS = { client_secret_basic: client.ClientSecretBasic, client_secret_post: client.ClientSecretPost }

const app = await read()
const config = await client.discovery(
  new URL(app.issuer),
  app.client_id,
  { id_token_signed_response_alg: "EdDSA" },
  METHODS[app.auth_method](app.client_secret),
  // The first lets it speak http, on loopback; the second has it check the signature of every id_token.
  { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] },
)

const checks = {
  pkceCodeVerifier: client.randomPKCECodeVerifier(),
  expectedState: client.randomState(),
  expectedNonce: client.randomNonce(),
  maxAge: 3600,
  idTokenExpected: true,
}
say({
  url: client.buildAuthorizationUrl(config, {
    redirect_uri: app.redirect_url,
    scope: app.scope,
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
    max_age: "3600",
  }).href,
})

const { callback } = await read()
const tokens = await client.authorizationCodeGrant(config, new URL(callback), checks)
const claims = tokens.claims()
const userinfo = await client.fetchUserInfo(config, tokens.access_token, claims.sub)
const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token)
const active = await client.tokenIntrospection(config, refreshed.access_token)
await client.tokenRevocation(config, refreshed.refresh_token)
const inactive = await client.tokenIntrospection(config, refreshed.access_token)
say({ tokens, claims, userinfo, refreshed: { ...refreshed, claims: refreshed.claims() }, active, inactive })
process.exit(0)
