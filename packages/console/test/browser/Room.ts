/** A room with data of all kinds, on SQLite, with its workers: what the browser looks at. */
import * as AlertChannels from "@signalbox/api/AlertChannels"
import * as Alerts from "@signalbox/api/Alerts"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as Assets from "@signalbox/api/Assets"
import * as ConsoleTickets from "@signalbox/api/ConsoleTickets"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Schedules from "@signalbox/api/Schedules"
import * as Secrets from "@signalbox/api/Secrets"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Triggers from "@signalbox/api/Triggers"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Files from "../../src/Files.ts"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Embedded from "signalbox/Embedded"
import { hostile, statement, tasks } from "./Robots.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const invoices = (from: number, to: number, customer: (n: number) => string) =>
  Array.from({ length: to - from }, (_, n) => ({
    invoice: `RE-${from + n}`,
    customer: customer(from + n),
    amount: 40 + ((from + n) % 89) * 17
  }))

const started = Effect.fnUntraced(function* (
  process: Parameters<typeof ProcessRuns.start>[0],
  payloads: Array<object>
) {
  const run = yield* ProcessRuns.start(process, { payloads: payloads.map((payload) => ({ ...payload })) })
  return run.started ? run.id : yield* Effect.die("the run did not start")
})

/** The processes and their runs: one in each state, and failures of several kinds. */
const work = Effect.gen(function* () {
  const group = yield* WorkerGroups.create("finance desktops")
  const match = yield* Processes.put({
    name: "Match invoices",
    description: "Reads invoices from the mailbox, posts them, and archives what was posted.",
    steps: [
      { name: "Read mailbox", task: { name: "Read mailbox" }, max_parallel: 2 },
      { name: "Post to ERP", task: { name: "Post to ERP" }, max_parallel: 2 },
      { name: "Archive PDF", task: { name: "Archive PDF" } }
    ],
    input_schema: {
      type: "object",
      required: ["invoice", "customer", "amount"],
      properties: {
        invoice: { type: "string", description: "As it is printed, such as RE-20930" },
        customer: { type: "string" },
        amount: { type: "number", minimum: 0 }
      }
    }
  })
  const fetch = yield* Processes.put({
    name: "Fetch statements",
    steps: [{ name: "Download", task: { name: "Download statement" } }]
  })
  const approve = yield* Processes.put({
    name: "Approve payments",
    steps: [{ name: "Wait for approval", task: { name: "Wait for approval" } }]
  })
  const payroll = yield* Processes.put({
    name: "Payroll export",
    steps: [{ name: "Export", task: { name: "Export" }, worker_group: { id: group.id } }]
  })
  const read = yield* Processes.put({
    name: "Read statements",
    steps: [{ name: "Read", task: { name: statement } }]
  })
  const failed = yield* started(
    match.id,
    invoices(20_900, 20_940, (n) => (n % 3 === 0 ? `88-${n % 7}` : `70-${n}`))
  )
  const completed = yield* started(
    match.id,
    invoices(20_880, 20_884, (n) => `70-${n}`)
  )
  const timedOut = yield* started(fetch.id, [{ bank: "bank-1.example" }, { bank: "bank-2.example" }])
  yield* Effect.forEach([failed, completed, timedOut], (run) => ProcessRuns.awaitEnd(run), {
    concurrency: "unbounded"
  })
  const busy = yield* started(approve.id, [{ invoice: "RE-20941" }, { invoice: "RE-20942" }])
  const waiting = yield* started(payroll.id, [{ month: "2026-10" }])
  yield* Processes.pause(payroll.id, { note: "the export is being changed" })
  const item = yield* WorkItems.create({
    process: match.id,
    payload: { invoice: "RE-20943", customer: "70-1", amount: 12 },
    reference: "mail-77"
  })
  yield* WorkItems.attachFile(item.id, { name: "invoice.pdf", bytes: bytes("%PDF-1.4") })
  return { busy, completed, failed, match: match.id, payroll: payroll.id, read: read.id, waiting }
})

/** Names and texts everywhere that would harm a page which took them for more than text, and a run of such. */
const harm = Effect.gen(function* () {
  const content = bytes(`${hostile.html} ${hostile.ansi} ${hostile.turned}`)
  yield* Assets.put("hostile.txt", { name: hostile.link, bytes: content }, { contentType: "text/plain" })
  yield* Secrets.put("hostile", { items: { [hostile.html]: "x", [hostile.link]: "x" }, description: hostile.html })
  const webhook = yield* Webhooks.create({
    endpoint: `http://127.0.0.1:9/${encodeURIComponent(hostile.html)}`,
    events: ["process_run.completed"]
  })
  yield* Webhooks.test(webhook.id)
  const channel = yield* AlertChannels.create({
    name: hostile.link,
    settings: { type: "webhook", url: "http://127.0.0.1:9/chat" }
  })
  yield* Alerts.create({ name: hostile.html, rule: { type: "failure_group" }, channels: [{ id: channel.id }] })
  const taskPackage = yield* TaskPackages.create(hostile.html)
  for (const task of [hostile.html, hostile.link]) {
    const zip = yield* zipOf({ "robot.yaml": robotYaml(task) })
    yield* TaskPackages.upload(taskPackage.id, { name: hostile.link, bytes: zip })
  }
  const { id } = yield* Processes.put({
    name: `Hostile ${hostile.html}`,
    steps: [{ name: hostile.link, task: { name: hostile.html } }]
  })
  const run = yield* started(id, [{ invoice: hostile.html, [hostile.html]: hostile.turned }])
  yield* ProcessRuns.awaitEnd(run)
  return run
})

/** What stands around the processes. */
const house = Effect.fnUntraced(function* (process: Parameters<typeof ProcessRuns.start>[0]) {
  yield* Schedules.create({
    name: "invoices, each morning",
    process: { id: process },
    cron: "0 6 * * mon-fri",
    zone: "Europe/Vienna"
  })
  const paused = yield* Schedules.create({
    name: "at the end of the year",
    process: { id: process },
    at: "2999-12-31T18:00:00Z"
  })
  yield* Schedules.pause(paused.id, "until the auditors have said what they need")
  yield* Triggers.create({ name: "ten invoices wait", process: { id: process }, start: { at_least: 10_000 } })
  yield* Triggers.create({ name: "from the shop", process: { id: process }, webhook: {} })
  yield* Assets.put(
    "customers.json",
    { name: "customers.json", bytes: bytes(JSON.stringify({ "70-1": "Meyer" })) },
    { contentType: "application/json" }
  )
  yield* Secrets.put("erp", { items: { user: Redacted.make("robot"), password: Redacted.make("not shown") } })
  const webhook = yield* Webhooks.create({ endpoint: "http://127.0.0.1:9/nobody", events: ["process_run.completed"] })
  yield* Webhooks.test(webhook.id)
  const channel = yield* AlertChannels.create({
    name: "the team's chat",
    settings: { type: "webhook", url: "http://127.0.0.1:9/chat" }
  })
  yield* Alerts.create({
    name: "a new kind of failure",
    rule: { type: "failure_group" },
    channels: [{ id: channel.id }]
  })
  const taskPackage = yield* TaskPackages.create("invoice robots")
  yield* TaskPackages.upload(taskPackage.id, {
    name: "robots.zip",
    bytes: yield* zipOf({ "robot.yaml": robotYaml("Read mailbox", "Post to ERP") })
  })
})

const reading = Permission.literals.filter((permission) => permission.includes(".read_"))

/** A key of the workspace. */
const key = (name: string, permissions: ReadonlyArray<Permission>) =>
  Effect.map(ApiKeys.create(name, permissions), ({ id, key }) => ({ id, key: Redacted.value(key) }))

/** What the task `Read statement` is to write. */
class Dictation extends Context.Service<Dictation, Queue.Queue<string>>()("test/Dictation") {
  static readonly layer = Layer.effect(Dictation, Queue.unbounded<string>())
}

export class Room extends Context.Service<
  Room,
  {
    readonly origin: string
    /** The same room by an address of this machine that is not loopback, over plain HTTP. */
    readonly publicOrigin: string
    readonly ids: Effect.Success<typeof work>
    /** Makes hostile names and texts, the first time, and returns the id of a run that has ended with such. */
    readonly harm: Effect.Effect<Effect.Success<typeof harm>>
    /** Has the task `Read statement` write a line; an empty one ends it. */
    readonly dictate: (line: string) => Effect.Effect<void>
    /** All permissions. */
    readonly key: string
    /** The permissions to read alone. */
    readonly readOnlyKey: string
    /** A ticket's address: opens a session with all permissions. */
    readonly ticket: Effect.Effect<string>
    /** A key whose session is about to end, and the end of it. */
    readonly doomed: Effect.Effect<{ readonly key: string; readonly end: Effect.Effect<void> }>
    /** Runs a call of the API. */
    readonly api: <A, E>(effect: Effect.Effect<A, E, ControlRoom>) => Effect.Effect<A>
  }
>()("test/Room") {
  static readonly layer = Layer.effect(
    Room,
    Effect.gen(function* () {
      const { credentials, origin } = yield* Embedded.Embedded
      const context = yield* Effect.context<ControlRoom>()
      const dictation = yield* Dictation
      const api = <A, E>(effect: Effect.Effect<A, E, ControlRoom>) => Effect.orDie(Effect.provide(effect, context))
      const ids = yield* work
      yield* house(ids.match)
      const readOnly = yield* key("looks only", reading)
      return {
        origin,
        publicOrigin: origin.replace("127.0.0.1", "room.test"),
        ids,
        api,
        harm: yield* Effect.cached(api(harm)),
        dictate: (line) => Queue.offer(dictation, line),
        key: credentials.api_key,
        readOnlyKey: readOnly.key,
        ticket: api(Effect.map(ConsoleTickets.create(), ({ url }) => Redacted.value(url))),
        doomed: api(
          Effect.map(key("leaves soon", reading), ({ id, key }) => ({
            key,
            end: Effect.asVoid(api(ApiKeys.remove(id)))
          }))
        )
      }
    })
  ).pipe(
    Layer.provide(
      Layer.unwrap(
        Effect.gen(function* () {
          const ending = yield* Deferred.make<void>()
          const dictation = yield* Dictation
          const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
          const room = Embedded.layer({
            data,
            port: 0,
            allowedHosts: ["room.test"],
            workspace: "Accounts",
            tasks: tasks(dictation, Deferred.await(ending)),
            workers: 4,
            rateLimit: null,
            console: yield* Files.read,
            flows: yield* FlowManagement.mounted
          })
          const end = Layer.effectDiscard(Effect.addFinalizer(() => Deferred.succeed(ending, undefined)))
          return Layer.provideMerge(end, room)
        })
      )
    ),
    Layer.provide(Dictation.layer)
  )
}
