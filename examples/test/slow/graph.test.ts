/**
 * The examples of the graph as a user runs them, each in its own process, against one sandbox and one control room.
 */
import { assert, describe, layer } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ApiFiles from "@signalbox/api/Files"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import * as SeedFolder from "@signalbox/graph-sandbox/SeedFolder"
import { AccessTokens } from "@signalbox/graph/AccessTokens"
import * as Drive from "@signalbox/graph/Drive"
import { Graph } from "@signalbox/graph/Graph"
import * as Lists from "@signalbox/graph/Lists"
import * as Sites from "@signalbox/graph/Sites"
import * as Uploads from "@signalbox/graph/Uploads"
import { soak } from "@signalbox/testkit/Soak"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { join } from "node:path"
import * as Embedded from "signalbox/Embedded"

const examples = join(import.meta.dirname, "..", "..", "graph")
const ann = "ann@contoso.test"

/** The data folder of the examples. */
class Folder extends Context.Service<Folder, string>()("Folder") {
  static readonly layer = Layer.effect(
    Folder,
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  )
}

const sandbox = Layer.unwrap(
  Effect.map(SeedFolder.read(join(examples, "seed")), (seed) => GraphSandbox.layer({ seed, signInAs: ann }))
)

/** The client of the test itself: a new token for each call, since some tests let tokens expire. */
const graph = Layer.unwrap(
  Effect.gen(function* () {
    const { accessToken, origin } = yield* GraphSandbox
    const current = Effect.map(Effect.orDie(accessToken(ann)), Redacted.make)
    return Graph.layerHttpClient({ graphUrl: origin, loginUrl: origin }).pipe(
      Layer.provide(Layer.succeed(AccessTokens, { current, renew: () => current })),
      Layer.provide(NodeHttpClient.layerUndici)
    )
  })
)

const room = Layer.unwrap(
  Effect.map(Folder, (folder) => Embedded.layer({ data: join(folder, "room"), port: 0, workers: 0 }))
)

const world = Layer.mergeAll(graph, room).pipe(
  Layer.provideMerge(Layer.merge(sandbox, Folder.layer)),
  Layer.provideMerge(NodeServices.layer)
)

/** Starts an example with a data folder of this name. */
const start = Effect.fnUntraced(function* (
  example: string,
  keeps: string,
  more: { readonly args?: ReadonlyArray<string>; readonly env?: Readonly<Record<string, string>> } = {}
) {
  const { app, origin } = yield* GraphSandbox
  const folder = yield* Folder
  return yield* ChildProcess.make(process.execPath, [join(examples, example), ...(more.args ?? [])], {
    extendEnv: true,
    env: {
      SIGNALBOX_DATA: join(folder, "room"),
      SIGNALBOX_GRAPH_DATA: join(folder, keeps),
      SIGNALBOX_GRAPH_URL: origin,
      SIGNALBOX_GRAPH_LOGIN_URL: origin,
      SIGNALBOX_GRAPH_CLIENT_ID: app.clientId,
      SIGNALBOX_GRAPH_CLIENT_SECRET: app.secret ?? "",
      ...more.env
    }
  })
})

/** Runs an example to its end; `onLine` is called with each line that it prints. */
const run = Effect.fnUntraced(function* <E = never, R = never>(
  example: string,
  keeps: string,
  more: Parameters<typeof start>[2] & { readonly onLine?: (line: string) => Effect.Effect<unknown, E, R> } = {}
) {
  const child = yield* start(example, keeps, more)
  const lines = Stream.splitLines(Stream.decodeText(child.stdout)).pipe(
    Stream.tap(more.onLine ?? (() => Effect.void)),
    Stream.runCollect
  )
  const [stdout, stderr] = yield* Effect.all([lines, Stream.mkString(Stream.decodeText(child.stderr))], {
    concurrency: 2
  })
  assert.strictEqual(Number(yield* child.exitCode), 0, [...stdout, stderr].join("\n"))
  return { lines: stdout, stderr }
}, Effect.scoped)

/** Starts an example, and kills it after an event. */
const kill = Effect.fnUntraced(function* <E, R>(
  example: string,
  keeps: string,
  happened: (said: string) => Effect.Effect<boolean, E, R>
) {
  const child = yield* start(example, keeps)
  let said = ""
  yield* Effect.forkScoped(
    Stream.runForEach(Stream.decodeText(child.stdout), (text) => Effect.sync(() => void (said += text)))
  )
  while (!(yield* happened(said))) yield* Effect.sleep("2 millis")
  yield* Effect.ignore(child.kill({ killSignal: "SIGKILL" }))
}, Effect.scoped)

// One story over one sandbox: what one example stores another lists.
describe("in this order", { shuffle: false }, () => {
  layer(world, { excludeTestServices: true, timeout: 120_000 })("the examples of the graph", (it) => {
    describe("clients/graph/run.ts", () => {
      for (const style of ["promise", "effect"]) {
        it.effect(`runs a program with ${style} as who is signed in`, () =>
          Effect.gen(function* () {
            const { lines } = yield* run("../clients/graph/run.ts", "clients", {
              args: [`list-folder.${style}`, "/Inbox"]
            })
            assert.include(lines.join(" "), "'orders.csv 29'")
          })
        )
      }
    })

    describe("list-drive.ts", () => {
      const listed = [/^OneDrive \(business, \d+ bytes used\), https:/, / Inbox\/$/, / 29 .* Inbox\/orders\.csv$/]

      it.effect("signs in with the browser, lists the drive, and needs no sign-in the second time", () =>
        Effect.gen(function* () {
          const first = yield* run("list-drive.ts", "browser")
          assert.strictEqual(first.lines[0], "Sign in at")
          const second = yield* run("list-drive.ts", "browser")
          for (const [n, line] of listed.entries()) assert.match(second.lines[n] ?? "", line)
          assert.deepStrictEqual(first.lines.slice(2), second.lines)
          assert.isTrue(second.lines.some((line) => line.endsWith(" Reports/May #1.txt")))
        })
      )

      it.effect.skipIf(!soak)("signs in again when its stored tokens have expired", () =>
        Effect.gen(function* () {
          const { expireAccessTokens, expireRefreshTokens } = yield* GraphSandbox
          yield* expireAccessTokens
          yield* expireRefreshTokens
          const { lines } = yield* run("list-drive.ts", "browser")
          assert.strictEqual(lines[0], "Sign in at")
          assert.match(lines[2] ?? "", /^OneDrive/)
        })
      )

      it.effect.skipIf(!soak)("signs in on another device with a code", () =>
        Effect.gen(function* () {
          const { answerDevice } = yield* GraphSandbox
          const { lines } = yield* run("list-drive.ts", "device", {
            args: ["/Inbox"],
            env: { SIGNALBOX_GRAPH_SIGN_IN: "device" },
            onLine: (line) => {
              const [, code] = /enter the code ([\w-]+)/.exec(line) ?? []
              return code === undefined ? Effect.void : answerDevice(code, ann)
            }
          })
          assert.match(lines.at(-1) ?? "", / 29 .* orders\.csv$/)
        })
      )

      it.effect("lists the library of a site as the app itself", () =>
        Effect.gen(function* () {
          const { lines } = yield* run("list-drive.ts", "app", {
            env: { SIGNALBOX_GRAPH_ACTS_AS: "app", SIGNALBOX_GRAPH_SITE: "https://contoso.sharepoint.test/sites/team" }
          })
          assert.match(lines[0] ?? "", /^Documents \(documentLibrary/)
          assert.match(lines[1] ?? "", / 27 .* Read me\.txt$/)
        })
      )
    })

    describe("watch-folder.ts", () => {
      const once = { env: { SIGNALBOX_GRAPH_SECONDS: "0" } }
      const keeps = "watch"

      /** All work items: the names and texts of their files. */
      const taken = WorkItems.stream({}).pipe(
        Stream.mapEffect(({ id }) => WorkItems.get(id)),
        Stream.mapEffect(({ files }) =>
          Effect.forEach(files, (file) =>
            Effect.map(Stream.mkString(Stream.decodeText(ApiFiles.download(file))), (text) => `${file.name}: ${text}`)
          )
        ),
        Stream.runCollect,
        Effect.map((all) => all.map((texts) => texts.join()).toSorted())
      )
      const put = (path: string, text: string) => Uploads.upload(Drive.me, { path }, new TextEncoder().encode(text))
      const orders = "orders.csv: order,amount\n1001,12\n1002,99\n"

      it.effect("each file becomes one work item, even if the program is killed", () =>
        Effect.gen(function* () {
          yield* put("/Inbox/a/b #1.txt", "deep")
          const { forgetRequests, requests } = yield* GraphSandbox
          const asked = (text: string) => Effect.map(requests, (all) => all.some(({ url }) => url.includes(text)))
          const items = Stream.runCount(WorkItems.stream({}))
          yield* forgetRequests
          if (soak) {
            yield* kill("watch-folder.ts", keeps, (said) => Effect.succeed(said.includes("Polling")))
            yield* kill("watch-folder.ts", keeps, () => asked("/delta"))
            yield* kill("watch-folder.ts", keeps, () => Effect.map(items, (count) => count > 0))
          }
          yield* kill("watch-folder.ts", keeps, (said) => Effect.succeed(said.includes("is the work item")))
          yield* run("watch-folder.ts", keeps, once)
          assert.deepStrictEqual(yield* taken, ["b #1.txt: deep", orders])
          yield* put("/Inbox/new.txt", "new")
          const { lines } = yield* run("watch-folder.ts", keeps, once)
          assert.match(lines.join("\n"), /^new\.txt is the work item \S+$/)
          assert.deepStrictEqual(yield* taken, ["b #1.txt: deep", "new.txt: new", orders])
          assert.deepStrictEqual((yield* run("watch-folder.ts", keeps, once)).lines, [])
          const runs = yield* Stream.runCollect(ProcessRuns.stream({}))
          const startedWith = yield* Effect.forEach(runs, ({ id }) =>
            Stream.runCollect(WorkItems.stream({ processRun: id }))
          )
          assert.deepStrictEqual(
            startedWith.map((all) => all.length),
            [1, 1, 1]
          )
          const fs = yield* FileSystem.FileSystem
          assert.deepStrictEqual(yield* fs.readDirectory(join(yield* Folder, keeps, "files")), [])
        })
      )

      it.effect("a file that failed is retried at the next poll", () =>
        Effect.gen(function* () {
          const { clearFaults, setFaults } = yield* GraphSandbox
          const { id } = yield* put("/Inbox/refused.txt", "late")
          yield* setFaults({ rules: [{ fault: "status", status: 403, path: `/items/${id}(\\?|$)` }] })
          const refused = yield* run("watch-folder.ts", keeps, once)
          yield* clearFaults
          assert.match(refused.stderr, /refused\.txt: Forbidden: .*; retried at the next poll/)
          const { lines } = yield* run("watch-folder.ts", keeps, once)
          assert.match(lines.join("\n"), /^refused\.txt is the work item \S+$/)
          assert.include(yield* taken, "refused.txt: late")
        })
      )

      it.effect("a failed poll does not end the program; a lost sign-in does", () =>
        Effect.gen(function* () {
          const { clearFaults, expireAccessTokens, expireRefreshTokens, setFaults } = yield* GraphSandbox
          yield* put("/Inbox/later.txt", "later")
          yield* setFaults({ rules: [{ fault: "status", status: 403, path: "/delta", times: 1 }] })
          const watching = { env: { SIGNALBOX_GRAPH_SECONDS: "0.1" } }
          const child = yield* start("watch-folder.ts", keeps, watching)
          const problems = yield* Effect.forkScoped(Stream.mkString(Stream.decodeText(child.stderr)))
          yield* Stream.splitLines(Stream.decodeText(child.stdout)).pipe(
            Stream.takeUntil((line) => line.startsWith("later.txt is the work item")),
            Stream.runDrain
          )
          yield* clearFaults
          yield* expireAccessTokens
          yield* expireRefreshTokens
          assert.notStrictEqual(Number(yield* child.exitCode), 0)
          assert.match(yield* Fiber.join(problems), /^Forbidden: .*\/delta .*; retried at the next poll$/m)
          assert.include(yield* taken, "later.txt: later")
        }).pipe(Effect.scoped)
      )
    })

    describe("outputs-to-list.ts", () => {
      it.effect("writes the outputs of the process into the list, each order once", () =>
        Effect.gen(function* () {
          const env = { SIGNALBOX_GRAPH_SITE: "https://contoso.sharepoint.test/sites/team" }
          const totals = ["1001: 14.28", "1002: 117.81", "O'Brien/7: 8.63"]
          const first = yield* run("outputs-to-list.ts", "list", { env })
          assert.deepStrictEqual(first.lines.slice(-3), totals)
          const second = yield* run("outputs-to-list.ts", "list", { env })
          assert.deepStrictEqual(
            second.lines,
            totals.map((line) => `${line}, which was there`)
          )
          const site = yield* Sites.get(env.SIGNALBOX_GRAPH_SITE)
          const rows = yield* Stream.runCollect(Lists.items(site.id, "Invoices"))
          assert.deepStrictEqual(
            rows.map(({ fields }) => `${String(fields?.["Title"])}: ${String(fields?.["Total"])}`).toSorted(),
            totals
          )
        })
      )
    })
  })
})
