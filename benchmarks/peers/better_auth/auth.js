// Better Auth with its OAuth provider: confidential clients, S256, opaque access tokens, EdDSA id tokens, rotation.
import { oauthProvider } from "@better-auth/oauth-provider";
import { betterAuth } from "better-auth";
import { jwt } from "better-auth/plugins";
import pg from "pg";

const PER_MINUTE = { window: 60, max: 100 };
const origin = `http://127.0.0.1:${process.env.PORT}`;

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, min: 4, max: 8 });
export const auth = betterAuth({
  baseURL: origin,
  secret: "a-secret-of-the-benchmark-alone-which-signs-nothing-else",
  database: pool,
  logger: { disabled: true },
  telemetry: { enabled: false },
  // Counted in its own memory, which is cheaper than a trip to Redis.
  rateLimit: { enabled: true, storage: "memory", ...PER_MINUTE },
  advanced: { ipAddress: { ipAddressHeaders: ["x-client-address"] } },
  emailAndPassword: { enabled: true },
  disabledPaths: ["/token"], // of the jwt plugin, in favour of /oauth2/token
  plugins: [
    jwt({ jwt: { issuer: origin }, jwks: { keyPairConfig: { alg: "EdDSA", crv: "Ed25519" } } }),
    oauthProvider({
      loginPage: "/sign-in",
      consentPage: "/consent",
      scopes: ["openid", "profile", "email", "offline_access"],
      accessTokenExpiresIn: 3600,
      refreshTokenExpiresIn: 30 * 86400,
      idTokenExpiresIn: 36000,
      storeClientSecret: "hashed", // one SHA-256
      storeTokens: "hashed",
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
      // Our id_token carries the claims of its scopes; theirs does where it is asked to.
      customIdTokenClaims: ({ user }) => ({ name: user.name, email: user.email, email_verified: user.emailVerified }),
      rateLimit: Object.fromEntries(
        ["token", "authorize", "introspect", "revoke", "register", "userinfo"].map((name) => [name, PER_MINUTE]),
      ),
    }),
  ],
});
