import { assert, describe, it } from "@effect/vitest"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessRunId, StepRunId, TaskPackageId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { defaultPolicy, RetryPolicy } from "@signalbox/api/Policy"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as Workspaces from "@signalbox/api/Workspaces"
import { OptionError } from "@signalbox/transport/OptionError"
import { connect } from "@signalbox/api/promise"
import * as Room from "@signalbox/control-room/Mounted"
import * as NodeServer from "@signalbox/control-room/NodeServer"
import * as Server from "@signalbox/control-room/Server"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowManagementClient from "@signalbox/flows/FlowManagementClient"
import * as Flow from "@signalbox/flows/Flow"
import * as NodeServices from "@signalbox/platform/NodeServices"
import * as Home from "@signalbox/worker/Home"
import { defineTask } from "@signalbox/worker/Promises"
import * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Embedded from "../src/Embedded.ts"
import * as Testing from "../src/Testing.ts"

const room = {
  baseUrl: "http://127.0.0.1:4700",
  apiKey: Redacted.make("key"),
  workspaceId: WorkspaceId.make("w")
}
const client = (options: object) => ControlRoom.layer({ ...room, ...options })
const served = (options: object) => Server.layer(options)
const mounted = (options: object) =>
  Room.Mounted.layer({ publicUrl: "http://127.0.0.1:3000/automation", ...options }).pipe(
    Layer.provide(Server.layerMemory)
  )
const worker = (options: object) =>
  Worker.layer({ origin: "http://127.0.0.1:4700", name: "w", tasks: [], ...options }).pipe(
    Layer.provide(FetchHttpClient.layer)
  )
const home = (options: object) => Layer.effectDiscard(Home.open({ folder: "/nowhere", service: null, ...options }))
const stepped = (options: object) =>
  Flow.step("load", {
    input: Schema.Void,
    success: Schema.Void,
    error: Schema.Never,
    run: () => Effect.void,
    ...options
  })
/** Runs a flow whose body has a duration, which programs in JavaScript may misspell. */
const lasting =
  (body: (duration: Duration.Input) => Effect.Effect<void, Flow.FlowTimeout, Flow.FlowContext<never>>) =>
  (options: object) =>
    Flow.run(
      Flow.make("lasting", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Flow.FlowTimeout,
        idempotencyKey: () => "1",
        run: () => body((options as { duration: Duration.Input }).duration)
      }),
      undefined
    )
const flowClient = (options: object) =>
  FlowManagementClient.FlowManagementClient.layer({
    url: "http://127.0.0.1:4800",
    token: Redacted.make("0123456789abcdef"),
    ...options
  })

const inRoom = <A, E>(effect: Effect.Effect<A, E, ControlRoom>) => Effect.provide(effect, ControlRoom.layer(room))
const byPolicy = (policy: object) =>
  Effect.provideService(inRoom(Workspaces.get), RetryPolicy, { ...defaultPolicy, ...policy })
const task = ({ name = "t", ...definition }: { readonly name?: string }) =>
  Task.make(name, { input: Schema.Json, output: Schema.Json, run: () => Effect.succeed(1), ...definition })
const promised = (definition: object) => defineTask({ name: "t", run: () => 1, ...definition })
const upload = (source: object) =>
  inRoom(TaskPackages.upload(TaskPackageId.make("p"), { name: "a.zip", size: 1, stream: Stream.empty, ...source }))

/** Whose options, what makes something of them, the options, and the message about them. */
const wrong: ReadonlyArray<readonly [of: string, make: (options: object) => unknown, options: object, said: string]> = [
  [
    "the client",
    client,
    { baseUrl: "127.0.0.1:4700" },
    "ControlRoom.layer: baseUrl: expected an absolute http or https address"
  ],
  ["the client", client, { baseUrl: "http://[" }, "baseUrl: expected an absolute http or https address"],
  ["the client", client, { workspaceId: "" }, "workspaceId: expected a text that is not empty"],
  ["the client", client, { apiKey: Redacted.make("key\n") }, "apiKey: expected a key, without spaces or line breaks"],
  ["the service", served, { publicUrl: "room.example.com" }, "Server.layer: publicUrl: expected an absolute"],
  ["the service", served, { internalUrl: "room:4700" }, "Server.layer: internalUrl: expected an absolute"],
  [
    "the service",
    served,
    { rateLimit: { perSecond: 0, burst: 5 } },
    "rateLimit.perSecond: expected a whole number of at least 1, not 0"
  ],
  [
    "the service",
    served,
    { rateLimit: { perSecond: 5, burst: NaN } },
    "rateLimit.burst: expected a whole number of at least 1, not NaN"
  ],
  ["the service", served, { retainRuns: "0 days" }, "retainRuns: expected a length of time above 0"],
  ["the service", served, { retainRuns: -1 }, "retainRuns: expected a length of time above 0"],
  ["the service", served, { cors: ["https://a.example.com/page"] }, "cors: expected `*` or origins without a path"],
  ["the service", served, { allowedHosts: ["a:80"] }, "allowedHosts: expected host names without scheme and port"],
  ["the mounted room", mounted, { publicUrl: "/automation" }, "Mounted: publicUrl: expected an absolute"],
  ["the mounted room", mounted, { prefix: "automation" }, "prefix: expected a path that begins with /"],
  [
    "the storage",
    (options) => Server.layerStorage({ data: "d", ...options }).pipe(Layer.provide(NodeServices.layer)),
    { data: "" },
    "Server.layerStorage: data: expected a text that is not empty"
  ],
  [
    "the Node server",
    (times) => NodeServer.create({ headers: 1, stalled: 1, idle: 1, ...times }),
    { idle: 0 },
    "idle: expected a finite number above 0, not 0"
  ],
  [
    "the embedded room",
    (options) => Embedded.layer(options),
    { port: 65_536 },
    "Embedded.layerService: port: expected a whole number from 0 to 65535, not 65536"
  ],
  [
    "the embedded room",
    (options) => Embedded.layer(options),
    { port: NaN },
    "port: expected a whole number from 0 to 65535, not NaN"
  ],
  [
    "the embedded room",
    (options) => Embedded.layer(options),
    { workspace: "" },
    "workspace: expected a text that is not empty"
  ],
  [
    "its workers",
    (options) => Embedded.layerWorkers(options),
    { workers: -1 },
    "Embedded.layerWorkers: workers: expected a whole number from 0 to 1000, not -1"
  ],
  [
    "Testing",
    (options) => Testing.layer(options),
    { workers: NaN },
    "Testing.layer: workers: expected a whole number from 0 to 1000, not NaN"
  ],
  ["a worker", worker, { origin: "localhost" }, "Worker: origin: expected an absolute"],
  ["a worker", worker, { capacity: 0 }, "capacity: expected a whole number from 1 to 1000, not 0"],
  ["a worker", worker, { heartbeat: 0 }, "heartbeat: expected a length of time above 0"],
  ["a worker", worker, { drain: NaN }, "drain: expected a length of time of 0 or more"],
  [
    "the home of a worker",
    home,
    { packagesLimit: -5 },
    "Home.open: packagesLimit: expected a whole number of at least 1, not -5"
  ],
  [
    "an engine of flows",
    (options) => FlowEngine.layerSqlite({ file: "f", ...options }),
    { concurrency: 0 },
    "FlowEngine: concurrency: expected a whole number of at least 1, not 0"
  ],
  [
    "an engine of flows",
    (options) => FlowEngine.layerSqlite({ file: "f", ...options }),
    { retain: { others: "Infinity" } },
    "retain.others: expected a length of time above 0"
  ],
  [
    "an engine of flows",
    (options) => FlowEngine.layerSqlite({ file: "f", ...options }),
    { file: "" },
    "file: expected a text that is not empty"
  ],
  ["the client of flows", flowClient, { url: "ftp://x" }, "FlowManagementClient.layer: url: expected an absolute"],
  [
    "a step",
    stepped,
    { retry: { attempts: 0 } },
    "the step load: retry.attempts: expected a whole number of at least 1, not 0"
  ],
  ["a step", stepped, { retry: { attempts: 3, backoff: 0 } }, "retry.backoff: expected a finite number above 0, not 0"],
  ["a step", stepped, { timeout: 0 }, "the step load: timeout: expected a length of time above 0"],
  [
    "a sleep",
    lasting((duration) => Flow.sleep("a while", duration)),
    { duration: "three days" },
    "the sleep a while: duration: expected a length of time of 0 or more"
  ],
  [
    "a timeout",
    lasting((duration) => Flow.timeout("soon", duration, Effect.void)),
    { duration: "soon" },
    "the timeout soon: duration: expected a length of time of 0 or more"
  ],
  ["a policy", byPolicy, { attempts: 0 }, "RetryPolicy: attempts: expected a whole number of at least 1, not 0"],
  ["a policy", byPolicy, { attemptTimeoutMillis: NaN }, "attemptTimeoutMillis: expected a length of time above 0"],
  ["a policy", byPolicy, { idleTimeoutMillis: 0 }, "idleTimeoutMillis: expected a length of time above 0"],
  ["a task", task, { name: "" }, "Task.make: name: expected a name of 1 to 255 characters"],
  ["a task", task, { name: "a".repeat(256) }, "name: expected a name of 1 to 255 characters"],
  ["a task", task, { input: {} }, "Task.make: input: expected a schema of effect"],
  ["a task", task, { run: undefined }, "Task.make: run: expected a function"],
  ["a task of promises", promised, { run: "later" }, "defineTask: run: expected a function"],
  ["a task of promises", promised, { output: "string" }, "defineTask: output: expected a schema of effect"],
  ["the limits of tasks", home, { limits: { cpuSeconds: 0 } }, "Home.open: limits.cpuSeconds: expected a whole number"],
  ["an upload", upload, { size: NaN }, "the source of an upload: size: expected a whole number of at least 0, not NaN"],
  [
    "a wait",
    (options) => inRoom(ProcessRuns.awaitEnd(ProcessRunId.make("r"), options)),
    { pollInterval: 0 },
    "awaitEnd: pollInterval: expected a length of time above 0"
  ],
  [
    "a console",
    (options) => StepRuns.followConsoleMessages(StepRunId.make("s"), options),
    { pollInterval: NaN },
    "followConsoleMessages: pollInterval: expected a length of time above 0"
  ],
  [
    "a webhook",
    (options) => Webhooks.verify({ headers: {}, body: "", secret: "whsec_c2VjcmV0", ...options }),
    { toleranceSeconds: NaN },
    "verify: toleranceSeconds: expected a number of seconds of 0 or more"
  ]
]

/** What making it and building it, if it is a layer, fails with. */
const failureOf = (make: (options: object) => unknown, options: object) =>
  Effect.suspend(() => {
    const made = make(options)
    // A layer or an effect of whatever needs: its options are checked before it asks for that.
    if (Effect.isEffect(made)) return made as Effect.Effect<unknown, unknown>
    return Layer.isLayer(made) ? Effect.scoped(Layer.build(made as Layer.Layer<unknown, unknown>)) : Effect.void
  }).pipe(
    Effect.exit,
    Effect.map((exit) => (Exit.isFailure(exit) ? Cause.squash(exit.cause) : null))
  )

describe("options that cannot be", () => {
  for (const [of, make, options, said] of wrong) {
    const shown = JSON.stringify(options, (_, value) => (Number.isNaN(value) ? "NaN" : value))
    it.effect(`of ${of} are refused where they are given: ${shown}`, () =>
      Effect.gen(function* () {
        const error = yield* failureOf(make, options)
        assert.instanceOf(error, OptionError)
        assert.include(error instanceof OptionError ? error.message : "", said)
      })
    )
  }

  it("of the client of promises are refused at once", () => {
    const options = { baseUrl: "http://127.0.0.1:4700", apiKey: "k", workspaceId: "w" }
    assert.throws(() => connect({ ...options, baseUrl: "room" }), OptionError, "connect: baseUrl: expected an absolute")
    assert.throws(
      () => connect({ ...options, policy: { attempts: NaN } }),
      OptionError,
      "connect: policy.attempts: expected a whole number of at least 1, not NaN"
    )
  })

  it.effect("do not show a password", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(client, { baseUrl: "htp://ann:hunter2@room" })
      assert.notInclude(String(error), "hunter2")
    })
  )
})
