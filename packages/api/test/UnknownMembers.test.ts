/** A member that a function does not know is refused, with its path and the name that was probably meant, before anything is sent. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Client from "../src/index.ts"
import * as Process from "../src/Process.ts"
import type { CallError } from "../src/ControlRoomError.ts"
import type { ControlRoom } from "../src/ControlRoom.ts"
import { answer } from "./support/FaultServer.ts"
import { withServer } from "./support/Retries.ts"

/** Arguments of each function that takes an object, with a member that it does not know, and what is said of it. */
const cases: Readonly<Record<string, readonly [args: ReadonlyArray<unknown>, message: RegExp]>> = {
  "AlertChannels.list": [[{ limmit: 1 }], /^limmit: no such option of alertChannels\.list; did you mean limit\?$/],
  "AlertChannels.stream": [[{ cursor: "c" }], /^cursor: no such option of alertChannels\.stream; expected limit$/],
  "AlertChannels.create": [
    [{ name: "n", settings: { type: "webhook", url: "https://a.example", secrett: "s" } }],
    /^settings\.secrett: no such member of alertChannels\.create/
  ],
  "AlertChannels.update": [["id", { nam: "n" }], /^nam: .*did you mean name\?$/],
  "Alerts.list": [[{ limits: 1 }], /^limits: .*did you mean limit\?$/],
  "Alerts.stream": [[{ limits: 1 }], /^limits: /],
  "Alerts.create": [
    [{ name: "n", rule: { type: "nothing_completed", proces: { id: "p" } }, channels: [] }],
    /^rule\.proces: no such member of alerts\.create; did you mean process\?$/
  ],
  "Alerts.update": [["id", { name: "n", repeatSeconds: 1 }], /^repeatSeconds: .*did you mean repeat_seconds\?$/],
  "Alerts.mute": [["id", { untill: "2026-01-01T00:00:00Z" }], /^untill: .*did you mean until\?$/],
  "Alerts.messages": [["id", { limt: 1 }], /^limt: /],
  "Alerts.firings": [[{ status: "open" }], /^status: no such filter of alerts\.firings; did you mean state\?$/],
  "ApiKeys.list": [[{ limt: 1 }], /^limt: /],
  "ApiKeys.stream": [[{ limt: 1 }], /^limt: /],
  "Assets.list": [[{ nam: "n" }], /^nam: .*did you mean name\?$/],
  "Assets.stream": [[{ nam: "n" }], /^nam: /],
  "Assets.upload": [
    ["id", { name: "n", bytes: new Uint8Array() }, { content_type: "a/b" }],
    /^content_type: .*contentType/
  ],
  "Assets.put": [["name", { name: "n", bytes: new Uint8Array() }, { type: "a/b" }], /^type: /],
  "Assistants.list": [[{ limt: 1 }], /^limt: /],
  "Assistants.stream": [[{ limt: 1 }], /^limt: /],
  "Assistants.create": [[{ name: "n", task: "t", taskPackage: "p", tsk: "" }], /^tsk: .*did you mean task\?$/],
  "Assistants.listRuns": [[{ asistant: "a" }], /^asistant: .*did you mean assistant\?$/],
  "Assistants.streamRuns": [[{ asistant: "a" }], /^asistant: /],
  "Users.list": [[{ limt: 1 }], /^limt: .*did you mean limit\?$/],
  "Users.stream": [[{ limt: 1 }], /^limt: .*did you mean limit\?$/],
  "Users.listSessions": [["u", { limt: 1 }], /^limt: .*did you mean limit\?$/],
  "Users.invite": [[{ login: "a", rol: "viewer" }], /^rol: .*did you mean role\?$/],
  "Users.setSignInRules": [
    [{ second_factor_required: true, idle: 1 }],
    /^idle: no such member of users\.setSignInRules/
  ],
  "Users.update": [["u", { rol: "viewer" }], /^rol: .*did you mean role\?$/],
  "Audit.list": [[{ actr: "k" }], /^actr: .*did you mean actor\?$/],
  "Audit.stream": [[{ actr: "k" }], /^actr: .*did you mean actor\?$/],
  "BulkOperations.create": [["delete", { process: "p" }], /^process: no such member of bulkOperations\.create/],
  "BulkOperations.count": [["delete", { stat: "failed" }], /^stat: .*did you mean state\?$/],
  "BulkOperations.list": [[{ limt: 1 }], /^limt: /],
  "BulkOperations.stream": [[{ limt: 1 }], /^limt: /],
  "ConsoleTickets.create": [[{ lifetme: "1 minute" }], /^lifetme: .*did you mean lifetime\?$/],
  "Failures.list": [[{ stat: "open" }], /^stat: no such filter of failures\.list; did you mean state\?$/],
  "Failures.stream": [[{ stat: "open" }], /^stat: /],
  "Failures.update": [["id", { notes: "n" }], /^notes: .*did you mean note\?$/],
  "Failures.mute": [["id", { untill: new Date(0) }], /^untill: /],
  "Outputs.list": [["run", { limt: 1 }], /^limt: /],
  "Outputs.stream": [["run", { includeData: true }], /^includeData: no such option of outputs\.stream/],
  "ProcessRuns.list": [
    [{ status: "completed" }],
    /^status: no such filter of processRuns\.list; did you mean state\?$/
  ],
  "ProcessRuns.stream": [[{ created_after: "t" }], /^created_after: .*did you mean createdAfter\?$/],
  "ProcessRuns.start": [
    ["p", { payload: [1] }],
    /^payload: no such member of processRuns\.start; did you mean payloads\?$/
  ],
  "ProcessRuns.stop": [["run", { terminated: true }], /^terminated: .*did you mean terminate\?$/],
  "Processes.list": [[{ nam: "n" }], /^nam: /],
  "Processes.stream": [[{ nam: "n" }], /^nam: /],
  "Processes.create": [
    [{ name: "n", steps: [{ name: "s", task: { name: "t" }, maxParallel: 2 }] }],
    /^steps\.0\.maxParallel: no such member of processes\.create; did you mean max_parallel\?$/
  ],
  "Processes.update": [["id", { name: "n", steps: [], revison: "1" }], /^revison: .*did you mean revision\?$/],
  "Processes.pause": [["id", { notes: "n" }], /^notes: /],
  "Processes.resume": [["id", { stp: "s" }], /^stp: .*did you mean step\?$/],
  "Processes.put": [
    [{ name: "n", steps: [], checkPayloads: true }],
    /^checkPayloads: .*did you mean check_payloads\?$/
  ],
  "Schedules.list": [[{ proces: "p" }], /^proces: .*did you mean process\?$/],
  "Schedules.stream": [[{ proces: "p" }], /^proces: /],
  "Schedules.create": [
    [{ name: "n", process: { id: "p" }, cron: "* * * * *", timezone: "UTC" }],
    /^timezone: no such member of schedules\.create/
  ],
  "Schedules.update": [["id", { name: "n", process: { id: "p" }, crn: "" }], /^crn: .*did you mean cron\?$/],
  "Schedules.put": [[{ name: "n", process: { id: "p" }, crn: "" }], /^crn: .*did you mean cron\?$/],
  "Schedules.preview": [[{ crn: "" }], /^crn: /],
  "Schedules.occurrences": [["id", { limt: 1 }], /^limt: /],
  "Secrets.list": [[{ limit: 1 }], /^limit: no such option of secrets\.list/],
  "Secrets.stream": [[{ nam: "n" }], /^nam: /],
  "Secrets.create": [["name", { items: {}, descripton: "d" }], /^descripton: .*did you mean description\?$/],
  "Secrets.update": [["name", { items: {}, host: [] }], /^host: .*did you mean hosts\?$/],
  "Secrets.setItems": [["name", { items: {}, removes: [] }], /^removes: .*did you mean remove\?$/],
  "Secrets.put": [["name", { items: {}, host: [] }], /^host: /],
  "StepRuns.list": [["run", { limt: 1 }], /^limt: /],
  "StepRuns.stream": [["run", { limt: 1 }], /^limt: /],
  "StepRuns.consoleMessagesFrom": [["id", 0, { limit: 1 }], /^limit: no such option of stepRuns\.consoleMessagesFrom/],
  "StepRuns.followConsoleMessages": [["id", { interval: 1 }], /^interval: /],
  "StepRuns.artifacts": [["id", { limt: 1 }], /^limt: /],
  "TaskPackages.list": [[{ nam: "n" }], /^nam: /],
  "TaskPackages.stream": [[{ nam: "n" }], /^nam: /],
  "TaskPackages.configureGit": [
    ["id", "github", { mode: "attached", brnch: "main" }],
    /^brnch: no such member of taskPackages\.configureGit; did you mean branch\?$/
  ],
  "TaskPackages.upload": [["id", { name: "n", bytes: new Uint8Array() }, { notes: "n" }], /^notes: /],
  "TaskPackages.listVersions": [["id", { limt: 1 }], /^limt: /],
  "TaskPackages.streamVersions": [["id", { limt: 1 }], /^limt: /],
  "TaskPackages.rollback": [["id", { form: 1 }], /^form: /],
  "Triggers.list": [[{ proces: "p" }], /^proces: /],
  "Triggers.stream": [[{ proces: "p" }], /^proces: /],
  "Triggers.create": [
    [{ name: "n", process: { id: "p" }, start: { atLeast: 1 } }],
    /^start\.atLeast: .*did you mean at_least\?$/
  ],
  "Triggers.update": [["id", { name: "n", process: { id: "p" }, webhok: {} }], /^webhok: .*did you mean webhook\?$/],
  "Webhooks.list": [[{ limt: 1 }], /^limt: /],
  "Webhooks.stream": [[{ limt: 1 }], /^limt: /],
  "Webhooks.create": [
    [{ endpoint: "https://a.example", events: [], proces: "p" }],
    /^proces: .*did you mean process\?$/
  ],
  "Webhooks.update": [["id", { enabld: false }], /^enabld: .*did you mean enabled\?$/],
  "Webhooks.deliveries": [["id", { status: "failed" }], /^status: .*did you mean state\?$/],
  "WorkerGroups.list": [[{ nam: "n" }], /^nam: /],
  "WorkerGroups.stream": [[{ nam: "n" }], /^nam: /],
  "WorkerGroups.pause": [["id", { notes: "n" }], /^notes: /],
  "WorkerGroups.linkTokens": [["id", { limt: 1 }], /^limt: /],
  "WorkerGroups.createLinkToken": [["id", { name: "n", expires_at: "t" }], /^expires_at: .*did you mean expiresAt\?$/],
  "WorkerGroups.updateLinkToken": [["id", "token", { nam: "n" }], /^nam: /],
  "Workers.list": [[{ group: "g" }], /^group: no such option of workers\.list/],
  "Workers.stream": [[{ worker_group: "g" }], /^worker_group: .*did you mean workerGroup\?$/],
  "Workers.pause": [["id", { notes: "n" }], /^notes: /],
  "Workers.createLinkToken": [[{ expires: "t" }], /^expires: /],
  "Workers.queueDepth": [[{ label: [] }], /^label: .*did you mean labels\?$/],
  "WorkItems.get": [["id", { schem: {} }], /^schem: .*did you mean schema\?$/],
  "WorkItems.list": [[{ status: "failed" }], /^status: no such filter of workItems\.list; did you mean state\?$/],
  "WorkItems.stream": [[{ status: "failed" }], /^status: no such filter of workItems\.stream; did you mean state\?$/],
  "WorkItems.create": [
    [{ process: "p", priorty: 5 }],
    /^priorty: no such member of workItems\.create; did you mean priority\?$/
  ],
  "WorkItems.createMany": [[{ process: "p", payloads: [], due_at: "t" }], /^due_at: .*did you mean dueAt\?$/],
  "WorkItems.attachFile": [
    ["id", { name: "n", bytes: new Uint8Array() }, { onprogress: 1 }],
    /^onprogress: .*onProgress/
  ],
  "WorkItems.updatePayload": [["id", 1, { previus: 1 }], /^previus: .*did you mean previous\?$/],
  "WorkItems.throughput": [[{ hour: 1 }], /^hour: .*did you mean hours\?$/]
}

/** Objects that are checked when they are given, as their values are: a mistake throws, and is a defect inside of an effect. */
const defects: Readonly<Record<string, readonly [args: ReadonlyArray<unknown>, message: RegExp]>> = {
  "Assets.awaitUpload": [
    ["id", "upload", { timout: 1 }],
    /^timout: no such option of assets\.awaitUpload; did you mean timeout\?$/
  ],
  "Assistants.awaitRunEnd": [["id", { timout: 1 }], /^timout: /],
  "BulkOperations.awaitEnd": [["id", { timout: 1 }], /^timout: /],
  "Changes.stream": [[{ from: 1 }], /^from: no such option of changes\.stream; expected after$/],
  "ProcessRuns.awaitEnd": [["id", { onpoll: 1 }], /^onpoll: .*did you mean onPoll\?$/],
  "ProcessRuns.integrationUrl": [["id", { key: "k", hanshake: "asana" }], /^hanshake: .*did you mean handshake\?$/]
}

/** Modules without operations of the service, and functions whose objects are no options. */
const others = [/^(ControlRoom|ControlRoomError|Credentials|Idempotency|Ids|Named|Payload|Policy|PollingClock)\./]
const ofOthers = [/^(StandardSchema|Upload|WebhookSignature)\./, /^Webhooks\.(sign|verify|receive)$/, /^Files\./]

type Called = Effect.Effect<unknown, CallError, ControlRoom>

const functionOf = (name: string) => {
  const [module = "", member = ""] = name.split(".")
  const found: unknown = Object.entries(Client).find(([one]) => one === module)?.[1]
  const value: unknown = Predicate.hasProperty(found, member) ? found[member] : undefined
  if (typeof value !== "function") throw new Error(`${name} is no function`)
  return (args: ReadonlyArray<unknown>): Called => {
    const made: unknown = value(...args)
    // Every function of these modules returns one or the other.
    return (Stream.isStream(made) ? Stream.runDrain(made) : made) as Called
  }
}

describe("an unknown member", () => {
  for (const [name, [args, message]] of Object.entries(cases)) {
    it.live(`is refused by ${name}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          server.script([answer(500)])
          const error = yield* Effect.flip(functionOf(name)(args))
          assert.strictEqual(error._tag, "InvalidRequest", error.message)
          assert.match(error.message, message)
          assert.lengthOf(server.received(), 0)
        })
      )
    )
  }

  for (const [name, [args, message]] of Object.entries(defects)) {
    it.live(`is a defect of ${name}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          server.script([answer(500)])
          const defect = yield* Effect.catchDefect(Effect.flip(functionOf(name)(args)), Effect.succeed)
          assert.match(String(Predicate.hasProperty(defect, "message") ? defect.message : defect), message)
          assert.lengthOf(server.received(), 0)
        })
      )
    )
  }

  it.live("is refused by processes as code", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(500)])
        const process = Process.make("p", { steps: [{ name: "s", input: Schema.Finite, output: Schema.Finite }] })
        const waiting: object = { waitng: "keep" }
        const failure: object = { failure: "settle" }
        // As programs without types give it.
        const workItems = { workItem: [] } as unknown as { readonly workItems: [] }
        const errors = [
          yield* Effect.flip(Process.deploy(process, waiting)),
          yield* Effect.flip(Process.startRun(process, workItems)),
          yield* Effect.flip(Process.run(process, [1], failure))
        ]
        assert.deepStrictEqual(
          errors.map(({ message }) => message),
          [
            "waitng: no such option of Process.deploy; did you mean waiting?",
            "workItem: no such member of Process.startRun; did you mean workItems?",
            "failure: no such option of Process.run; did you mean failures?"
          ]
        )
        assert.lengthOf(server.received(), 0)
      })
    )
  )

  it.live("is refused in an object within the options too", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(500)])
        const callback = { urll: "https://a.example", secret: "s", events: [] }
        const error = yield* Effect.flip(functionOf("ProcessRuns.start")(["p", undefined, { callback }]))
        assert.match(error.message, /^callback\.urll: no such member of processRuns\.start; did you mean url\?$/)
        assert.lengthOf(server.received(), 0)
      })
    )
  )

  it.live("that is undefined says nothing", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(200, { data: [], has_more: false, next: null })])
        yield* functionOf("WorkItems.list")([{ status: undefined, state: "failed" }])
        assert.lengthOf(server.received(), 1)
      })
    )
  )

  it("has a case for each function that takes an object", () => {
    const missing = Object.entries(Client).flatMap(([module, members]) =>
      Object.entries(members).flatMap(([member, value]) => {
        const name = `${module}.${member}`
        const isOther = [...others, ...ofOthers].some((pattern) => pattern.test(name))
        // Those that take ids, names and numbers alone.
        const takesNone =
          /\.(get\w*|limits|steps|remove\w*|retry|markAsDone|rotate\w*|reveal|test|unmute|next|cancel|hasEnded|startAgain)$/
        const takesIds =
          /\.(resume|resolve|reopen|drain|rename|addWorker|redeliver|promote|download\w*|events|setOwner|createLink|endSessions|signInRules)$/
        const more =
          /^(ApiKeys|Assets|TaskPackages|WorkerGroups|Workspaces)\.create$|^Assistants\.(startRun|heartbeat|completeRun)$/
        const rest = /^Roles\.(all|put)$|^StepRuns\.consoleMessages$|^Schedules\.pause$/
        const isPlain = [takesNone, takesIds, more, rest].some((pattern) => pattern.test(name))
        const isError = typeof value === "function" && /^[A-Z]/.test(member)
        const isThere = name in cases || name in defects
        return typeof value !== "function" || isOther || isError || isThere || isPlain ? [] : [name]
      })
    )
    assert.deepStrictEqual(missing, [])
  })
})
