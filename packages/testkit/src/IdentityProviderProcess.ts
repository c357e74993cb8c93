/**
 * A real provider of OpenID Connect in a process. A login such as `ada~staff~admins` is the person `ada`, who is in two groups. As told at `/test/behave`, what it
 * signs is wrong in one way, which providers do when they are attacked or badly set up; `/test/counts` has how often each path was asked.
 */
import { generateKeyPairSync, createHmac, sign } from "node:crypto"
import { createServer } from "node:http"
import { Provider } from "oidc-provider"

interface Settings {
  readonly port: number
  readonly clients: ReadonlyArray<{
    readonly id: string
    readonly secret: string
    readonly callback: string
    readonly home: string
  }>
}

const settings: Settings = JSON.parse(process.argv[2] ?? "{}")
const issuer = `http://localhost:${settings.port}`

const newKey = () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  return { privateKey, kid: crypto.randomUUID() }
}
const key = newKey()
const foreignKey = newKey()

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

type Content = Record<string, unknown>

const signed = (header: Content, claims: Content, privateKey = key.privateKey) => {
  const text = `${encoded(header)}.${encoded(claims)}`
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), privateKey).toString("base64url")}`
}

const header = { alg: "RS256", typ: "JWT", kid: key.kid }
const now = () => Math.floor(Date.now() / 1000)

/** What an ID token becomes. */
const behaviours: Readonly<Record<string, (claims: Content) => string>> = {
  audience: (claims) => signed(header, { ...claims, aud: "another" }),
  party: (claims) => signed(header, { ...claims, aud: [String(claims["aud"]), "another"], azp: "another" }),
  issuer: (claims) => signed(header, { ...claims, iss: "http://localhost:1" }),
  nonce: (claims) => signed(header, { ...claims, nonce: "another" }),
  expired: (claims) => signed(header, { ...claims, exp: now() - 90 }),
  skewed: (claims) => signed(header, { ...claims, iat: now() + 45, exp: now() - 45 }),
  future: (claims) => signed(header, { ...claims, iat: now() + 90 }),
  unsigned: (claims) => `${encoded({ alg: "none" })}.${encoded(claims)}.`,
  symmetric: (claims) => {
    const text = `${encoded({ alg: "HS256" })}.${encoded(claims)}`
    return `${text}.${createHmac("sha256", settings.clients[0]?.secret ?? "")
      .update(text)
      .digest("base64url")}`
  },
  signature: (claims) => signed(header, claims, foreignKey.privateKey),
  key: (claims) => signed({ ...header, kid: foreignKey.kid }, claims, foreignKey.privateKey),
  thin: ({ groups: _groups, name: _name, ...claims }) => signed(header, claims),
  overage: ({ groups: _groups, ...claims }) =>
    signed(header, { ...claims, _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: issuer } } }),
  hasGroups: ({ groups: _groups, ...claims }) => signed(header, { ...claims, hasgroups: true })
}

let behaviour = ""
const counts = new Map<string, number>()

const provider = new Provider(issuer, {
  clients: settings.clients.map(({ callback, home, id, secret }) => ({
    client_id: id,
    client_secret: secret,
    subject_type: "pairwise",
    redirect_uris: [callback],
    post_logout_redirect_uris: [home]
  })),
  jwks: { keys: [{ ...key.privateKey.export({ format: "jwk" }), kid: key.kid, use: "sig", alg: "RS256" }] },
  claims: {
    openid: ["sub"],
    profile: ["name", "given_name", "family_name", "preferred_username", "groups", "oid"],
    email: ["email"]
  },
  conformIdTokenClaims: false,
  subjectTypes: ["pairwise"],
  pairwiseIdentifier: (_context, login) => login.split("~")[0] ?? "",
  cookies: { keys: ["a key for cookies of the tests"] },
  pkce: { required: () => true },
  findAccount: (_context, id) => {
    const [name = "", ...groups] = id.split("~")
    return {
      accountId: id,
      claims: () => ({
        sub: name,
        oid: `object ${name}`,
        name: `${name} Person`,
        preferred_username: name,
        email: `${name}@example.com`,
        groups
      })
    }
  },
  // Nobody is asked what the room may see.
  loadExistingGrant: async ({ oidc }) => {
    const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId })
    grant.addOIDCScope("openid profile email")
    await grant.save()
    return grant
  }
})

provider.use(async (context, next) => {
  counts.set(context.path, (counts.get(context.path) ?? 0) + 1)
  if (behaviour === "down" && !context.path.startsWith("/.well-known")) {
    context.status = 503
    context.body = "down"
    return
  }
  await next()
  const change = behaviours[behaviour]
  const body: unknown = context.body
  if (change === undefined || context.path !== "/token" || typeof body !== "object" || body === null) return
  if (!("id_token" in body) || typeof body.id_token !== "string") return
  const claims = JSON.parse(Buffer.from(body.id_token.split(".")[1] ?? "", "base64url").toString())
  context.body = { ...body, id_token: change(claims) }
})

const handle = provider.callback()
createServer((request, response) => {
  const url = new URL(request.url ?? "/", issuer)
  if (url.pathname === "/test/behave") {
    behaviour = url.searchParams.get("as") ?? ""
    response.end("{}")
  } else if (url.pathname === "/test/counts") {
    response.end(JSON.stringify(Object.fromEntries(counts)))
  } else {
    void handle(request, response)
  }
}).listen(settings.port, "localhost", () => process.stdout.write("ready\n"))
