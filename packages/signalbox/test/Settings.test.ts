/** Flags, the environment and defaults, as `signalbox config` shows them and as `up` uses them. */
import { assert, describe, it } from "@effect/vitest"
import { freePort } from "@signalbox/testkit/FreePort"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { type IncomingMessage, request } from "node:http"
import { delimiter, join } from "node:path"
import * as Environments from "../src/internal/settings/Environments.ts"
import * as Logs from "../src/internal/settings/Logs.ts"
import * as Server from "../src/internal/settings/Server.ts"
import { read, type Setting } from "../src/internal/settings/Setting.ts"
import { all } from "../src/internal/settings/Show.ts"
import * as Storage from "../src/internal/settings/Storage.ts"
import { limits, worker } from "../src/internal/settings/Worker.ts"
import { type Env, signalbox, succeed, temporaryFolder, upHere } from "./support/Cli.ts"

const shown = async (args: ReadonlyArray<string>, env: Env = {}) => {
  const { lines, stdout } = await succeed(["config", "--json", ...args], { env })
  const settings: ReadonlyArray<Readonly<Record<string, string>>> = lines.map((line) => JSON.parse(line))
  return { stdout, of: (name: string) => settings.find((setting) => setting["name"] === name), settings }
}

const password = "hunter2hunter2"

describe("signalbox config", () => {
  it("shows every setting, its default, and where its value is from: a flag wins over the environment", async () => {
    const { of, settings } = await shown(
      ["--port", "1", "--cors", "https://a.example.com", "--cors", "https://b.example.com"],
      {
        SIGNALBOX_PORT: "2",
        SIGNALBOX_HOST: "0.0.0.0",
        SIGNALBOX_RATE_LIMIT: "10",
        SIGNALBOX_WORKERS: "",
        SIGNALBOX_ALLOW_PRIVATE_TARGETS: "true"
      }
    )
    assert.deepStrictEqual(
      settings.map(({ name }) => name),
      Object.keys(all)
    )
    const facts = (name: string) => [of(name)?.["value"], of(name)?.["source"], of(name)?.["default"]]
    assert.deepStrictEqual(facts("port"), ["1", "flag", "4700"])
    assert.deepStrictEqual(facts("host"), ["0.0.0.0", "environment", "127.0.0.1"])
    assert.deepStrictEqual(facts("cors"), ["https://a.example.com,https://b.example.com", "flag", "none"])
    assert.deepStrictEqual(facts("rateLimit"), ["10:50", "environment", "100:500"])
    assert.deepStrictEqual(facts("workers"), ["1", "default", "1"])
    assert.deepStrictEqual(facts("allowPrivateTargets"), ["true", "environment", "if the host is loopback"])
    assert.deepStrictEqual(facts("data"), [".signalbox", "default", ".signalbox"])
  })

  it("shows no secret, in either form", async () => {
    const env = {
      SIGNALBOX_DATABASE_URL: `postgres://u:${password}@pooler/x`,
      SIGNALBOX_DATABASE_DIRECT_URL: `postgres://u:${password}@db/x`,
      SIGNALBOX_DATABASE_PASSWORD: password,
      SIGNALBOX_MASTER_KEY: password
    }
    const { of, stdout } = await shown([], env)
    assert.strictEqual(of("databaseUrl")?.["value"], "<redacted>")
    assert.strictEqual(of("masterKey")?.["source"], "environment")
    const table = await succeed(["config"], { env })
    for (const text of [stdout, table.stdout, table.stderr]) assert.notInclude(text, password)
    assert.match(table.stdout, /--port, SIGNALBOX_PORT +4700 +default +4700 +The port to listen on/)
  })

  it.effect("takes several from a variable, and from a flag that is repeated", () =>
    Effect.gen(function* () {
      const byVariable = yield* Server.read({})
      assert.deepStrictEqual(byVariable.allowedHosts, ["a.example.com", "b.example.com"])
      const byFlag = yield* Server.read({
        allowedHosts: { source: "flag", text: ["a.example.com,b.example.com", "c"] }
      })
      assert.deepStrictEqual(byFlag.allowedHosts, ["a.example.com", "b.example.com", "c"])
      assert.deepStrictEqual((yield* read(worker, {})).labels, ["gpu", "office"])
      const folders = { source: "flag", text: [`/a${delimiter}b`] } as const
      const { allowEnvironments } = yield* Environments.read({ allowEnvironments: folders })
      assert.deepStrictEqual(allowEnvironments, [`/a${delimiter}b`])
    }).pipe(
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnvRecord({
          SIGNALBOX_ALLOWED_HOSTS: "a.example.com,b.example.com",
          SIGNALBOX_LABELS: " gpu  office gpu"
        })
      )
    )
  )

  it.effect("takes the password of the database with any characters", () =>
    Effect.gen(function* () {
      const options = yield* Storage.read({})
      assert.strictEqual(
        Redacted.value(options.database?.url ?? Redacted.make("")),
        "postgres://u:a%40b%2Fc%3A%23%25%20d@pooler/x"
      )
      assert.strictEqual(
        Redacted.value(options.database?.directUrl ?? Redacted.make("")),
        "postgres://u:a%40b%2Fc%3A%23%25%20d@db/x"
      )
    }).pipe(
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnvRecord({
          SIGNALBOX_DATABASE_URL: "postgres://u@pooler/x",
          SIGNALBOX_DATABASE_DIRECT_URL: "postgres://u@db/x",
          SIGNALBOX_DATABASE_PASSWORD: "a@b/c:#% d"
        })
      )
    )
  )

  const wrong: ReadonlyArray<readonly [Env, RegExp]> = [
    [{ SIGNALBOX_DATABASE_DIRECT_URL: "postgres://u@db/x" }, /SIGNALBOX_DATABASE_URL: missing/],
    [{ SIGNALBOX_PORT: "http" }, /^--port or SIGNALBOX_PORT: Expected/],
    [{ SIGNALBOX_PORT: "70000" }, /--port or SIGNALBOX_PORT: Expected a value between 0 and 65535/],
    [{ SIGNALBOX_RATE_LIMIT: "fast" }, /--rate-limit or SIGNALBOX_RATE_LIMIT: Expected `off`, or requests a second/],
    [
      { SIGNALBOX_CORS: "https://a.example.com/path" },
      /--cors or SIGNALBOX_CORS: Expected `\*` or origins without a path/
    ],
    [
      { SIGNALBOX_ALLOWED_HOSTS: "https://a.example.com" },
      /--allowed-host or SIGNALBOX_ALLOWED_HOSTS: Expected host names without scheme and port/
    ],
    [{ SIGNALBOX_PUBLIC_URL: "room.example.com" }, /--public-url or SIGNALBOX_PUBLIC_URL: Expected an absolute http/],
    [{ SIGNALBOX_RETAIN_RUNS: "soon" }, /--retain-runs or SIGNALBOX_RETAIN_RUNS: Expected a number of minutes/],
    [{ SIGNALBOX_RETAIN_RUNS: "0 days" }, /--retain-runs or SIGNALBOX_RETAIN_RUNS: Expected a number of minutes/],
    [{ SIGNALBOX_S3_BUCKET: "s3://files" }, /--s3-bucket or SIGNALBOX_S3_BUCKET: Expected the name of a bucket/],
    [{ SIGNALBOX_S3_PREFIX: "rooms" }, /--s3-prefix or SIGNALBOX_S3_PREFIX: Expected .* with a `\/` at the end/],
    [{ SIGNALBOX_WORKERS: "-1" }, /--workers or SIGNALBOX_WORKERS: Expected/],
    [{ SIGNALBOX_LOG_FORMAT: "xml" }, /SIGNALBOX_LOG_FORMAT.*"logfmt" \| "json"/],
    [{ SIGNALBOX_LOG_LEVEL: "loud" }, /SIGNALBOX_LOG_LEVEL.*"info"/]
  ]
  for (const [env, message] of wrong) {
    it.effect(`refuses ${JSON.stringify(env)}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Effect.andThen(Logs.read, Server.read({})))
        assert.match(error.message, message)
      }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env)))
    )
  }

  it.effect("reads of the storage alone what a command that opens it needs", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Storage.read({})).data, "room")
      const { message } = yield* Effect.flip(Server.read({}))
      assert.include(message, "SIGNALBOX_PORT")
    }).pipe(
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnvRecord({ SIGNALBOX_PORT: "http", SIGNALBOX_DATA: "room" })
      )
    )
  )

  it("refuses what cannot be used in one line, and so does up", async () => {
    for (const command of ["config", "up"]) {
      const { status, stderr } = await signalbox([command], { env: { SIGNALBOX_PORT: "http" } })
      assert.strictEqual(status, 1)
      assert.match(stderr, /^signalbox: --port or SIGNALBOX_PORT: Expected[^\n]*\n$/)
    }
    const { folder, remove } = temporaryFolder("settings")
    const { status, stderr } = await signalbox(["config"], { env: { SIGNALBOX_LOG_FORMAT: "xml" }, cwd: folder })
    assert.strictEqual(status, 1)
    assert.match(stderr, /^signalbox: SIGNALBOX_LOG_FORMAT: Expected[^\n]*\n$/)
    remove()
  })

  it.effect("refuses a bucket without an access key", () =>
    Effect.gen(function* () {
      const provider = ConfigProvider.fromEnvRecord({ SIGNALBOX_S3_BUCKET: "files", AWS_ACCESS_KEY_ID: "id" })
      const { message } = yield* Effect.flip(Server.read({})).pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, provider)
      )
      assert.strictEqual(message, "AWS_SECRET_ACCESS_KEY: missing; a bucket (--s3-bucket) needs an access key")
    })
  )

  it("is in the README, setting by setting", () => {
    const cell = (text: string) => text.replaceAll("|", "\\|")
    const code = (text = "") => (text === "" ? "" : `\`${text}\``)
    const documented: ReadonlyArray<Setting<unknown>> = Object.values({ ...worker, ...limits })
    const rows = [...documented, ...Object.values(all)].map(({ description, fallback, flag, variable }) =>
      [code(flag && `--${flag}`), code(variable), fallback, description].map(cell)
    )
    const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8")
    const table = readme.split("\n").filter((line) => /^\| (`--[\w-]+`)? +\| (`[A-Z]\w+`)? +\|/.test(line))
    const found = table.map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((text) => text.trim())
    )
    assert.deepStrictEqual(found, rows)
  })
})

describe("signalbox up", () => {
  it("takes its settings from the environment, and says what it logs in the form asked for", async () => {
    const { folder, remove } = temporaryFolder("settings")
    const port = await freePort()
    const room = await upHere(join(folder, "data"), ["--port", String(port), "--workers", "0"], {
      SIGNALBOX_HOST: "localhost",
      SIGNALBOX_CORS: "*",
      SIGNALBOX_ALLOWED_HOSTS: "a.example.com,b.example.com",
      SIGNALBOX_METRICS: "true",
      SIGNALBOX_RATE_LIMIT: "1:2",
      SIGNALBOX_CREATE_WORKSPACES: "false",
      SIGNALBOX_PUBLIC_URL: "https://room.example.com",
      SIGNALBOX_LOG_FORMAT: "json"
    })
    const { api_key, base_url, workspace_id } = room.ready
    assert.strictEqual(base_url, "https://room.example.com/api/v1")
    const credentials = JSON.parse(readFileSync(join(folder, "data", "credentials.json"), "utf8"))
    assert.strictEqual(credentials.base_url, "https://room.example.com")
    const headers = {
      authorization: `RC-WSKEY ${api_key}`,
      origin: "https://any.example.com",
      "content-type": "application/json"
    }
    const url = `http://localhost:${port}/api/v1/workspaces`
    const first = await fetch(`${url}/${workspace_id}`, { headers })
    assert.strictEqual(first.headers.get("access-control-allow-origin"), "*")
    assert.strictEqual(first.headers.get("ratelimit-limit"), "2")
    const create = await fetch(url, { method: "POST", headers, body: '{"name":"n"}' })
    assert.strictEqual(create.status, 403)
    // More than a slow machine can send at one per second.
    const many = await Promise.all(Array.from({ length: 30 }, () => fetch(`${url}/${workspace_id}`, { headers })))
    assert.include(
      many.map(({ status }) => status),
      429
    )
    const metricsAt = async (host: string) => {
      const outgoing = request({ host: "localhost", port, path: "/metrics", headers: { host } }).end()
      const [answer]: Array<IncomingMessage> = await once(outgoing, "response")
      answer?.resume()
      return answer?.statusCode
    }
    assert.strictEqual(await metricsAt("b.example.com"), 200)
    assert.strictEqual(await metricsAt("c.example.com"), 421)
    const [warning] = room.stderr().trim().split("\n")
    assert.deepInclude(JSON.parse(warning ?? ""), { level: "WARN" })
    assert.match(JSON.parse(warning ?? "").message, /CORS is open to every origin/)
    assert.strictEqual(await room.end(), 0)
    remove()
  })

  it("never shows the address of a database", async () => {
    const { status, stderr, stdout } = await signalbox(["up", "--port", "0"], {
      env: { SIGNALBOX_DATABASE_URL: `postgres://u:${password}@127.0.0.1:9/x`, SIGNALBOX_LOG_LEVEL: "all" }
    })
    assert.strictEqual(status, 1)
    assert.notInclude(stderr + stdout, password)
    assert.match(stderr, /SIGNALBOX_DATABASE_URL|database/)
  })
})
