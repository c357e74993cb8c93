/**
 * The sandbox as a process of its own, started by its command, with a folder as its seed.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { fetched, type Init } from "./Asking.ts"
import { certificate } from "@signalbox/testkit/Certificate"

const bin = join(import.meta.dirname, "..", "..", "..", "signalbox", ".bundle-command", "bin.ts")

/** What the command says of itself. */
const Facts = Schema.Struct({
  graph_url: Schema.String,
  authority: Schema.String,
  control_url: Schema.String,
  tenant: Schema.String,
  client_id: Schema.String,
  client_secret: Schema.String,
  redirect_uri: Schema.String
})

const apps = [
  {
    clientId: "web",
    secret: "s3cret",
    platform: "web",
    redirectUris: ["http://localhost/callback"],
    certificates: [certificate]
  },
  { clientId: "cli", platform: "public", redirectUris: ["http://localhost"] }
]

const seed: Readonly<Record<string, string>> = {
  "sandbox.json": JSON.stringify({ apps }),
  "users/ann/user.json": JSON.stringify({ displayName: "Ann Lee" }),
  "users/ann/drive/Docs/a #1%.txt": "hello world",
  "users/joan/user.json": JSON.stringify({ displayName: "Joan OneVideo" }),
  "users/joan/mailbox.json": JSON.stringify({
    folders: ["inbox/done"],
    mails: [
      { subject: "First", receivedDateTime: "2030-01-01T00:00:00Z", attachments: [{ name: "a.txt", content: "one" }] },
      { subject: "Second", receivedDateTime: "2030-01-02T00:00:00Z", from: "Bo <bo@partner.test>" },
      { subject: "Third", receivedDateTime: "2030-01-03T00:00:00Z", isRead: true }
    ]
  }),
  "users/bo/user.json": JSON.stringify({ displayName: "Bo Jones" }),
  "groups/Team.json": JSON.stringify({ id: "g1", members: ["ann@contoso.test", "bo@contoso.test"] }),
  "sites/sub/site.json": JSON.stringify({ displayName: "Sub", path: "/sites/team/sub" }),
  "sites/team/site.json": JSON.stringify({ displayName: "Team" }),
  "sites/team/drive/Report.txt": "42"
}

const make = Effect.fnUntraced(function* (options: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "graph-sandbox-command-" })
  const caFile = paths.join(folder, "ca.pem")
  for (const [name, contents] of Object.entries(seed)) {
    const file = paths.join(folder, "seed", name)
    yield* fs.makeDirectory(paths.dirname(file), { recursive: true })
    yield* fs.writeFileString(file, contents)
  }
  const args = ["--port", "0", "--json", "--seed", paths.join(folder, "seed"), "--tls", "--ca-file", caFile]
  const child = yield* ChildProcess.make(process.execPath, [bin, "graph-sandbox", ...args, ...options], {
    stdin: "ignore",
    stderr: "inherit",
    forceKillAfter: "5 seconds"
  })
  const line = yield* child.stdout.pipe(Stream.decodeText, Stream.splitLines, Stream.runHead)
  const facts = yield* Schema.decodeEffect(Schema.fromJsonString(Facts))(Option.getOrElse(line, () => ""))
  // As with NODE_EXTRA_CA_CERTS, which is read when a process starts.
  setDefaultCACertificates([...getCACertificates("default"), yield* fs.readFileString(caFile)])

  const post = (url: string, form: Readonly<Record<string, string>>) =>
    fetched(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString()
    })

  /** Signs a person in as a browser would, and returns the tokens. */
  const signIn = Effect.fnUntraced(function* (name: string) {
    const asked = new URLSearchParams({
      client_id: facts.client_id,
      redirect_uri: facts.redirect_uri,
      response_type: "code",
      scope: "https://graph.microsoft.com/.default offline_access",
      login_hint: name
    })
    const { headers } = yield* fetched(`${facts.authority}/oauth2/v2.0/authorize?${asked.toString()}`)
    const { body } = yield* post(`${facts.authority}/oauth2/v2.0/token`, {
      grant_type: "authorization_code",
      client_id: facts.client_id,
      client_secret: facts.client_secret,
      redirect_uri: facts.redirect_uri,
      code: new URL(headers.get("location") ?? "").searchParams.get("code") ?? ""
    })
    return { accessToken: String(body.access_token), refreshToken: String(body.refresh_token) }
  })
  const ann = yield* signIn("ann@contoso.test")

  return {
    ...facts,
    caFile,
    origin: new URL(facts.graph_url).origin,
    port: Number(new URL(facts.graph_url).port),
    /** The tokens of Ann. */
    ann,
    /** Asks the sandbox itself: what it was asked, what goes wrong from now on. */
    control: (path: string, init?: Init) => fetched(`${facts.control_url}${path}`, init),
    /** Asks as Ann, without any client: a path behind the version. */
    ask: (path: string, init: Init = {}) =>
      fetched(`${facts.graph_url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${ann.accessToken}`, ...init.headers }
      })
  }
})

/** A sandbox that was started by its command, over HTTPS. */
export class Command extends Context.Service<Command, Effect.Success<ReturnType<typeof make>>>()(
  "@signalbox/graph-sandbox/test/Command"
) {
  static readonly layer = (...options: ReadonlyArray<string>) =>
    Layer.effect(Command)(make(options)).pipe(Layer.provide(NodeServices.layer))
}

/** Bytes of which no part is like another. */
export const patterned = (length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  for (let i = 0; i < length; i++) bytes[i] = i % 251
  return bytes
}
