/**
 * The intake as a municipality runs it, in a process that is killed again and again while things arrive and calls fail.
 */
import { assert, layer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Triggers from "@signalbox/api/Triggers"
import * as WorkItems from "@signalbox/api/WorkItems"
import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import { AccessTokens } from "@signalbox/graph/AccessTokens"
import * as Drive from "@signalbox/graph/Drive"
import { Graph } from "@signalbox/graph/Graph"
import * as Mail from "@signalbox/graph/Mail"
import * as MailArrivals from "@signalbox/graph/MailArrivals"
import * as Mailbox from "@signalbox/graph/Mailbox"
import * as Subscriptions from "@signalbox/graph/Subscriptions"
import * as Uploads from "@signalbox/graph/Uploads"
import { freePort } from "@signalbox/testkit/FreePort"
import { soak } from "@signalbox/testkit/Soak"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as ChildProcess from "effect/process/ChildProcess"
import { join } from "node:path"
import * as Embedded from "signalbox/Embedded"

const examples = join(import.meta.dirname, "..", "..", "intake")
const count = soak ? 1000 : 200
const mails = soak ? 200 : 25
const invoices = "invoices@contoso.test"

const seed = {
  users: [
    { userPrincipalName: "ann@contoso.test", displayName: "Ann Lee" },
    { userPrincipalName: invoices, displayName: "Invoices" }
  ]
}

/** The data folder of the programs. */
class Folder extends Context.Service<Folder, string>()("Folder") {
  static readonly layer = Layer.effect(
    Folder,
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  )
}

const graph = Layer.unwrap(
  Effect.gen(function* () {
    const { accessToken, origin } = yield* GraphSandbox
    return Graph.layerHttpClient({ graphUrl: origin, loginUrl: origin }).pipe(
      Layer.provide(AccessTokens.layerFixed(Redacted.make(yield* accessToken()))),
      Layer.provide(FetchHttpClient.layer)
    )
  })
)

const room = Layer.unwrap(
  Effect.map(Folder, (folder) => Embedded.layer({ data: join(folder, "room"), port: 0, workers: 0 }))
)

const world = Layer.mergeAll(graph, room).pipe(
  Layer.provideMerge(Layer.merge(GraphSandbox.layer({ seed }), Folder.layer)),
  Layer.provideMerge(NodeServices.layer)
)

/** Starts a program as the app itself; what it says comes line by line. */
const start = Effect.fnUntraced(function* (
  program: string,
  more: { readonly args?: ReadonlyArray<string>; readonly env?: Readonly<Record<string, string>> } = {}
) {
  const { app, origin, tenant } = yield* GraphSandbox
  const folder = yield* Folder
  const child = yield* ChildProcess.make(process.execPath, [join(examples, program), ...(more.args ?? [])], {
    extendEnv: true,
    env: {
      SIGNALBOX_DATA: join(folder, "room"),
      SIGNALBOX_GRAPH_DATA: join(folder, "graph"),
      SIGNALBOX_GRAPH_URL: origin,
      SIGNALBOX_GRAPH_LOGIN_URL: origin,
      SIGNALBOX_GRAPH_ACTS_AS: "app",
      SIGNALBOX_GRAPH_TENANT: tenant,
      SIGNALBOX_GRAPH_CLIENT_ID: app.clientId,
      SIGNALBOX_GRAPH_CLIENT_SECRET: app.secret ?? "",
      SIGNALBOX_GRAPH_SITE: "https://contoso.sharepoint.test/sites/team",
      SIGNALBOX_INTAKE_MAILBOX: invoices,
      SIGNALBOX_INTAKE_SECONDS: "0.2",
      ...more.env
    }
  })
  const lines = Stream.splitLines(Stream.decodeText(child.all))
  return { child, lines }
})

/** Kills it when it has taken so many. */
const killAfter = Effect.fnUntraced(function* (program: string, many: number) {
  const { child, lines } = yield* start(program)
  yield* lines.pipe(
    Stream.filter((line) => line.includes(" is the work item ")),
    Stream.take(many),
    Stream.runDrain
  )
  yield* Effect.ignore(child.kill({ killSignal: "SIGKILL" }))
}, Effect.scoped)

/** Runs until it has said so many lines of this kind, or to its end. */
const until = Effect.fnUntraced(function* (
  program: string,
  options: Parameters<typeof start>[1],
  isLast: (line: string) => boolean
) {
  const { child, lines } = yield* start(program, options)
  const said = yield* Stream.runCollect(Stream.takeUntil(lines, isLast))
  yield* Effect.ignore(child.kill())
  return said
}, Effect.scoped)

/** Each work item of a process with the names of its files, and how many runs it is in. */
const madeOf = Effect.fnUntraced(function* (name: string) {
  const { data } = yield* Processes.list({ name })
  const process = data[0]?.id
  if (process === undefined) return { files: [], runs: 0, inRuns: 0 }
  const items = yield* Stream.runCollect(WorkItems.stream({ process, includeData: true, limit: 500 }))
  const runs = yield* Stream.runCollect(ProcessRuns.stream({ process, limit: 500 }))
  return {
    files: items
      .map(({ files = [] }) =>
        files
          .map(({ name, size }) => `${name} ${size}`)
          .toSorted()
          .join()
      )
      .toSorted(),
    runs: runs.length,
    inRuns: new Set(items.map(({ process_run }) => process_run?.id)).size
  }
})

const made = madeOf("incoming files")

layer(world, { excludeTestServices: true, timeout: 120_000 })("the intake", (it) => {
  it.effect("of files makes one work item of each, killed again and again while they arrive and calls fail", () =>
    Effect.gen(function* () {
      const { clearFaults, setFaults } = yield* GraphSandbox
      const drive = Drive.ofResource("sites/contoso.sharepoint.test:/sites/team:")
      const put = (n: number) =>
        Uploads.upload(drive, { path: `/Inbox/${n % 10}/${n}.txt` }, new TextEncoder().encode(`file ${n}`))
      yield* put(0)
      yield* setFaults({
        rules: [
          { fault: "throttle", method: "GET", every: 23, retryAfter: "decimal", seconds: 0.02 },
          { fault: "drop", host: "files", method: "GET", every: 11 },
          { fault: "status", status: 503, path: "/delta", every: 5 },
          { fault: "truncate", bytes: 3, host: "files", method: "GET", every: 17 }
        ]
      })
      yield* Effect.forkScoped(
        Effect.forEach(
          Array.from({ length: count - 1 }, (_, n) => n + 1),
          put,
          { concurrency: 2 }
        )
      )
      for (const many of [1, 17, 40, 33]) yield* killAfter("files.ts", many)
      const expected = Array.from({ length: count }, (_, n) => `${n}.txt ${`file ${n}`.length}`).toSorted()
      const port = yield* Effect.promise(freePort)
      const env = {
        SIGNALBOX_INTAKE_SECONDS: "3600",
        SIGNALBOX_INTAKE_PORT: String(port),
        SIGNALBOX_INTAKE_NOTIFICATION_URL: `http://127.0.0.1:${port}/`
      }
      yield* clearFaults
      yield* start("files.ts", { env })
      while ((yield* made).runs < count) yield* Effect.sleep("200 millis")
      const { files, inRuns, runs } = yield* made
      assert.deepStrictEqual(files, expected)
      assert.deepStrictEqual([runs, inRuns], [count, count])
      // Told by a notification: the next look without one would be in an hour.
      yield* put(count)
      while ((yield* made).runs === count) yield* Effect.sleep("50 millis")
    }).pipe(Effect.scoped)
  )

  it.effect("of files has nothing to do when it is run again, even when its state is lost", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const before = yield* made
      yield* fs.remove(join(yield* Folder, "graph", "files.json"))
      yield* until("files.ts", { args: ["--once"] }, () => false)
      assert.deepStrictEqual(yield* made, before)
      assert.deepStrictEqual(yield* until("files.ts", { args: ["--once"] }, () => false), [])
    })
  )

  it.effect("of mail makes one work item of each with its attachments, killed while they arrive and calls fail", () =>
    Effect.gen(function* () {
      const { clearFaults, deliver, setFaults } = yield* GraphSandbox
      const send = (n: number) =>
        deliver(invoices, {
          subject: `invoice ${n}`,
          attachments: [
            { name: "invoice.pdf", content: `${n}` },
            { name: "invoice.pdf", content: `${n}, once more` },
            { name: "odd\\name\n.txt", content: "odd" },
            { name: "the order", content: { item: "Subject: order" } },
            { name: "logo.png", content: "logo", isInline: true, contentId: "logo" }
          ]
        })
      yield* setFaults({
        rules: [
          { fault: "throttle", method: "GET", every: 13, retryAfter: "decimal", seconds: 0.02 },
          { fault: "drop", host: "graph", method: "GET", path: "/attachments/", every: 7 },
          { fault: "status", status: 503, path: "/delta", every: 5 }
        ]
      })
      yield* Effect.forkScoped(
        Effect.forEach(
          Array.from({ length: mails }, (_, n) => n),
          (n) => Effect.delay(send(n), "30 millis")
        )
      )
      for (const many of [3, 8]) yield* killAfter("mail.ts", many)
      yield* start("mail.ts")
      while ((yield* madeOf("incoming mail")).runs < mails) yield* Effect.sleep("200 millis")
      yield* clearFaults
      const expected = Array.from({ length: mails }, (_, n) =>
        [
          "attached 1.eml 14",
          "attachment 3 3",
          `invoice (2).pdf ${`${n}, once more`.length}`,
          `invoice.pdf ${`${n}`.length}`
        ].join()
      ).toSorted()
      const { files, inRuns, runs } = yield* madeOf("incoming mail")
      assert.deepStrictEqual(files, expected)
      assert.deepStrictEqual([runs, inRuns], [mails, mails])
    }).pipe(Effect.scoped)
  )

  it.effect(
    "is not needed where a trigger has the address: the room answers the validation, and each notification is an item",
    () =>
      Effect.gen(function* () {
        const { deliver } = yield* GraphSandbox
        const { id } = yield* Processes.put({ name: "notified", steps: [{ name: "look", task: { name: "look" } }] })
        const { url } = yield* Triggers.create({
          name: "mail of invoices",
          process: { id },
          webhook: { handshake: "microsoft-graph", payload: "/value/0/resourceData/id" }
        })
        const mailbox = Mailbox.of({ user: invoices })
        yield* Subscriptions.create({
          resource: MailArrivals.resource(mailbox),
          changeTypes: ["created"],
          notificationUrl: url ?? "",
          clientState: "known to both"
        })
        yield* deliver(invoices, { subject: "told" })
        const items = Stream.runCollect(WorkItems.stream({ process: id, includeData: true }))
        while ((yield* items).length === 0) yield* Effect.sleep("20 millis")
        const [item] = yield* items
        const message = yield* Mail.get(mailbox, String(item?.payload), { select: ["subject"] })
        assert.strictEqual(message.subject, "told")
      })
  )
})
