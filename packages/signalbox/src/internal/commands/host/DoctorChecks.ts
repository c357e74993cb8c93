/** What `signalbox doctor` looks at, each on its own, so that one that fails hides no other. */
import * as ApiKeys from "@signalbox/api/ApiKeys"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { readCredentials } from "@signalbox/api/Credentials"
import type { CallError } from "@signalbox/api/ControlRoomError"
import * as Assets from "@signalbox/api/Assets"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Processes from "@signalbox/api/Processes"
import * as Room from "@signalbox/api/Room"
import * as Secrets from "@signalbox/api/Secrets"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Workers from "@signalbox/api/Workers"
import * as Workspaces from "@signalbox/api/Workspaces"
import * as Administration from "@signalbox/control-room/Administration"
import * as Folder from "@signalbox/transport/Folder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import { access, constants, statfs } from "node:fs/promises"
import { createServer } from "node:net"
import { dirname, join, resolve } from "node:path"
import packageJson from "../../../../package.json" with { type: "json" }
import { ConnectionName } from "../../connection/Connection.ts"
import * as Problem from "../../output/Problem.ts"
import type { Settings } from "../../settings/Server.ts"
import * as Storage from "../../settings/Storage.ts"

export interface Finding {
  readonly check: string
  readonly status: "ok" | "warn" | "fail"
  readonly message: string
  /** What to do; null when all is well, and when the message has it. */
  readonly remedy: string | null
}

export type Outcome = Omit<Finding, "check">

const ok = (message: string): Outcome => ({ status: "ok", message, remedy: null })
const warn = (message: string, remedy: string): Outcome => ({ status: "warn", message, remedy })
const fail = (message: string, remedy: string): Outcome => ({ status: "fail", message, remedy })

const node = Effect.sync(() => {
  const { version } = process
  const needed = packageJson.engines.node.replace(">=", "")
  const isOld = version.slice(1).localeCompare(needed, "en", { numeric: true }) < 0
  return isOld ? fail(`Node ${version} is too old`, `install Node ${needed} or newer`) : ok(`Node ${version}`)
})

/** The folder itself, or the one in which the first start makes it. */
const existing = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  let path = resolve(folder)
  while (!(yield* fs.exists(path)) && dirname(path) !== path) path = dirname(path)
  return path
})

const isWritable = (path: string) =>
  Effect.isSuccess(Effect.tryPromise(() => access(path, constants.W_OK | constants.X_OK)))

const dataFolder = Effect.fnUntraced(function* ({ data }: Settings) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* existing(data)
  if (!(yield* isWritable(path))) {
    return fail(`cannot write to ${path}`, "give this user write permission, or choose another folder with --data")
  }
  const credentials = join(data, "credentials.json")
  if (!(yield* fs.exists(credentials))) return ok(`${data} is writable; no control room has been started there yet`)
  const { mode } = yield* fs.stat(credentials)
  return (mode & 0o077) === 0
    ? ok(`${data} is writable; only you can read its credentials`)
    : warn(`${credentials} can be read by others`, `run chmod 600 ${credentials}`)
})

const gigabyte = 1024 ** 3

const disk = Effect.fnUntraced(function* ({ data }: Settings) {
  const path = yield* existing(data)
  const { bavail, bsize } = yield* Effect.tryPromise(() => statfs(path))
  const free = (bavail * bsize) / gigabyte
  const message = `${free.toFixed(1)} GB are free for ${data}`
  if (free < 0.1) return fail(message, "free space: a control room accepts no work when its disk is full")
  return free < 1 ? warn(message, "free space before the disk is full") : ok(message)
})

const canListen = (host: string, port: number) =>
  Effect.callback<string | null>((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? error.message)))
    server.listen(port, host, () => server.close(() => resume(Effect.succeed(null))))
  })

/** Whether a control room responds there. */
const answers = (host: string, port: number) =>
  HttpClient.get(`http://${host.includes(":") ? `[${host}]` : host}:${port}/healthz`).pipe(
    Effect.map(({ status }) => status === 200),
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => false)
  )

/** A control room without a public address of another kind: what its last start listened on. */
const listening = /^http:\/\/(?:\[([0-9a-f:]+)\]|([\d.]+)):(\d+)$/

/** Where the control room of the data folder is; null when none was started there, or only its public address is known. */
const recorded = Effect.fnUntraced(function* ({ data }: Settings) {
  const credentials = yield* Effect.option(readCredentials(join(data, "credentials.json")))
  const baseUrl = Option.match(credentials, { onNone: () => "", onSome: ({ baseUrl }) => baseUrl })
  const [, six, four, port] = listening.exec(baseUrl) ?? []
  const host = six ?? four
  return host === undefined ? null : { host, port: Number(port) }
})

const whereOf = ({ host, port }: Pick<Settings, "host" | "port">) => `port ${port} of ${host}`

/** With `isChosen` the port of the settings is meant, wherever the control room of the folder listens. */
const port = Effect.fnUntraced(function* (settings: Settings, isChosen: boolean) {
  const room = isChosen ? null : yield* recorded(settings)
  if (room !== null && (yield* answers(room.host, room.port))) return ok(`a control room listens on ${whereOf(room)}`)
  const { host, port } = settings
  const problem = yield* canListen(host, port)
  const where = whereOf(settings)
  if (problem === null) return ok(`${where} is free`)
  if (problem === "EADDRINUSE" && (yield* answers(host, port))) return ok(`a control room listens on ${where}`)
  const remedy = "stop the program that listens there, or choose another port with --port or SIGNALBOX_PORT"
  return problem === "EADDRINUSE"
    ? warn(`another program listens on ${where}`, remedy)
    : warn(`cannot listen on ${where} (${problem})`, "choose another address with --host and --port")
})

const hasDatabase = Effect.fnUntraced(function* ({ data, databaseUrl }: Settings) {
  return databaseUrl !== null || (yield* (yield* FileSystem.FileSystem).exists(join(data, "control-room.db")))
})

const database = Effect.fnUntraced(function* (settings: Settings) {
  if (!(yield* hasDatabase(settings))) return ok("not created yet: the first start creates it")
  const checked = yield* Administration.check(Storage.optionsOf(settings)).pipe(Effect.timeoutOption("10 seconds"))
  if (Option.isNone(checked)) return ok("reachable; too large for this check: run `signalbox check`")
  const wrong = checked.value.find((finding) => !finding.ok)
  return wrong === undefined
    ? ok("reachable and not damaged")
    : fail(`${wrong.check}: ${wrong.message}`, "run `signalbox check` for details")
})

/** What the pooler does with the settings of statements. */
const pooler = Effect.fnUntraced(function* (settings: Settings) {
  yield* Administration.checkPooler(Storage.optionsOf(settings))
  return ok("transactions through the connection pooler apply their settings")
})

/** Writes an object, reads it and deletes it. */
const bucket = Effect.fnUntraced(function* (settings: Settings) {
  return yield* Administration.checkBucket(Storage.optionsOf(settings)).pipe(
    Effect.as(ok(`objects of ${settings.s3Bucket} can be written, read, listed and deleted`)),
    Effect.catchTag("BucketError", ({ kind, message }) => Effect.succeed(fail(message, bucketRemedies[kind])))
  )
})

const bucketRemedies = {
  bucket: "check SIGNALBOX_S3_ENDPOINT, and that it can be reached from this machine",
  bucketFull: "raise the quota of the bucket, or delete objects",
  bucketRefused:
    "check SIGNALBOX_S3_BUCKET, SIGNALBOX_S3_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and that the key may get, put, delete and list objects"
} as const

const connection = Effect.gen(function* () {
  const { baseUrl } = yield* ControlRoom
  const { name } = yield* Workspaces.get
  return ok(`the workspace ${name} at ${baseUrl}, of ${yield* ConnectionName}`)
})

/** Beyond this, signed addresses and leases end at other times than they say. */
const toleratedMillis = 30_000

const clock = Effect.gen(function* () {
  const { baseUrl } = yield* ControlRoom
  const response = yield* HttpClient.get(`${new URL(baseUrl).origin}/healthz`)
  const there = Date.parse(response.headers["date"] ?? "")
  if (Number.isNaN(there)) return ok("the control room does not send its time")
  const apart = Math.abs((yield* Clock.currentTimeMillis) - there)
  const message = `the clocks of this machine and of the control room are ${Math.round(apart / 1000)} s apart`
  return apart <= toleratedMillis ? ok(message) : warn(message, "synchronize both with NTP")
})

/** What a key may read, by what it takes to ask. */
const reads: Readonly<Record<string, Effect.Effect<unknown, CallError, ControlRoom>>> = {
  processes: Processes.list({ limit: 1 }),
  runs: ProcessRuns.list({ limit: 1 }),
  "work items": WorkItems.list({ limit: 1 }),
  packages: TaskPackages.list({ limit: 1 }),
  assets: Assets.list({ limit: 1 }),
  secrets: Secrets.list(),
  webhooks: Webhooks.list({ limit: 1 }),
  workers: Workers.list({ limit: 1 }),
  keys: ApiKeys.list({ limit: 1 })
}

const isForbidden = (error: CallError) => error._tag === "ControlRoomError" && error.reason._tag === "Forbidden"

const permissions = Effect.gen(function* () {
  const refused = yield* Effect.filter(Object.entries(reads), ([, read]) =>
    read.pipe(
      Effect.as(false),
      Effect.catchIf(isForbidden, () => Effect.succeed(true))
    )
  )
  const names = refused.map(([name]) => name).join(", ")
  return refused.length === 0
    ? ok("the key may read everything except values of secrets")
    : warn(`the key may not read ${names}`, "create a key with these permissions: `signalbox keys create`")
})

/** Offline workers that are named; there may be hundreds. */
const mostNamed = 10

/** What the workers of a workspace say. One that drains or is paused is meant to take nothing, so it may be offline. */
export const ofWorkers = (all: ReadonlyArray<Workers.Worker>): Outcome => {
  if (all.length === 0) {
    return warn("no worker is linked; steps cannot run", "start one with `signalbox worker start`, or `up --workers 1`")
  }
  const offline = all.filter(({ state }) => state === "offline")
  const missing = offline.filter(({ draining, paused }) => !draining && paused === null)
  const count = `${all.length - offline.length} of ${all.length} workers are online`
  if (missing.length === 0 && offline.length < all.length) {
    return ok(offline.length === 0 ? count : `${count}, and the others are draining or paused`)
  }
  if (missing.length === 0) return warn(count, "start one with `signalbox worker start`, or `signalbox up`")
  const named = missing
    .slice(0, mostNamed)
    .map(({ last_seen_at, name }) => `${name} (last seen ${last_seen_at ?? "never"})`)
  const more = missing.length > mostNamed ? ` and ${missing.length - mostNamed} more` : ""
  return warn(
    `${count}; offline: ${named.join(", ")}${more}`,
    "start them with `signalbox worker start` or `signalbox up`, or delete them with `signalbox workers delete NAME`"
  )
}

const workers = Stream.runCollect(Workers.stream({ limit: 500 })).pipe(
  Effect.map(ofWorkers),
  Effect.catchIf(isForbidden, () =>
    Effect.succeed(warn("the key may not read the workers", "use a key with the permission Workers.read_workers"))
  )
)

/** What the nodes of a room say of themselves; several versions beside each other are meant to be there for minutes. */
export const ofNodes = (all: ReadonlyArray<Room.RoomNode>): Outcome => {
  if (all.length === 0) return ok("the control room is of a version that does not list its nodes")
  const offline = all.filter(({ state }) => state === "offline")
  if (offline.length > 0) {
    const named = offline
      .slice(0, mostNamed)
      .map(({ last_seen_at, name, version }) => `${name} (version ${version}, last seen ${last_seen_at})`)
    const more = offline.length > mostNamed ? ` and ${offline.length - mostNamed} more` : ""
    return warn(
      `${all.length - offline.length} of ${all.length} nodes are online; offline: ${named.join(", ")}${more}`,
      "look at its log and start it again, or check its connection to the database; a node that was removed is listed for a day"
    )
  }
  const byVersion = Map.groupBy(all, ({ version }) => version)
  if (byVersion.size > 1) {
    const versions = [...byVersion].map(
      ([version, nodes]) => `${version} (${nodes.map(({ name }) => name).join(", ")})`
    )
    return warn(`nodes have different versions: ${versions.join(", ")}`, "update the nodes of older versions")
  }
  return ok(`${all.length === 1 ? "1 node" : `${all.length} nodes`} of version ${[...byVersion.keys()].join("")}`)
}

const nodes = Effect.map(Room.get, (room) => ofNodes(room.nodes))

/** Behind a proxy all people have one address, unless it is said whose word counts. */
const proxy = ({ host, port, publicUrl, trustedProxies }: Settings) => {
  const behind = publicUrl !== null && new URL(publicUrl).host !== `${host}:${port}`
  return Effect.succeed(
    trustedProxies.length > 0
      ? ok(`X-Forwarded-For is accepted from ${trustedProxies.join(", ")}`)
      : behind
        ? warn(
            "sign-in attempts to the console are not limited by address, since no proxy is trusted to set X-Forwarded-For",
            "set the address of the proxy with --trusted-proxies or SIGNALBOX_TRUSTED_PROXIES"
          )
        : ok("sign-in attempts to the console are not limited by address; limit them with --trusted-proxies")
  )
}

/** A check that cannot be made has failed, for the reason that every command would give. */
const found = <E, R>(check: string, look: Effect.Effect<Outcome, E, R>) =>
  Effect.map(
    Effect.catchCause(look, (cause) =>
      Effect.succeed<Outcome>({ status: "fail", message: Problem.ofCause(cause), remedy: null })
    ),
    (outcome): Finding => ({ check, ...outcome })
  )

/** Null: the data folder answers. Otherwise nothing else can look at it. */
export const ofDeadFolder = (settings: Settings) =>
  Folder.check(settings.data).pipe(
    Effect.as(null),
    Effect.catch((error) => found("data folder", Effect.fail(error)))
  )

/** The checks of this machine and its data folder; `isPortChosen` as by a flag or a variable. */
export const ofMachine = (settings: Settings, isPortChosen: boolean) =>
  Effect.all([
    found("node", node),
    found("data folder", dataFolder(settings)),
    found("disk", disk(settings)),
    found("port", port(settings, isPortChosen)),
    found("proxy", proxy(settings)),
    found("database", database(settings)),
    ...(settings.databaseDirectUrl === null ? [] : [found("pooler", pooler(settings))]),
    ...(settings.s3Bucket === null ? [] : [found("bucket", bucket(settings))])
  ])

/** The checks of the control room that commands talk to; when it cannot be reached, that alone. */
export const ofConnection = Effect.gen(function* () {
  const connected = yield* found("connection", connection)
  if (connected.status === "fail") return [connected]
  return [
    connected,
    ...(yield* Effect.all([
      found("clock", clock),
      found("permissions", permissions),
      found("workers", workers),
      found("nodes", nodes)
    ]))
  ]
})
