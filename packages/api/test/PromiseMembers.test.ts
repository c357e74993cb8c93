/** The client with promises has what programs need of the modules, with the same types, and nothing else. */
import type * as Effect from "effect/Effect"
import * as Effects from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, expectTypeOf, it } from "vitest"
import * as api from "../src/index.ts"
import * as Process from "../src/Process.ts"
import * as promises from "../src/Promise.ts"
import * as resources from "../src/Resources.ts"
import type { Page } from "../src/contract/Common.ts"
import {
  type ApiPromise,
  type CallOptions,
  type Client,
  connect,
  connectOnly,
  type ListPage,
  type Plain
} from "../src/Promise.ts"

const room = connect({ baseUrl: "http://127.0.0.1:4700", apiKey: "key", workspaceId: "workspace" })

/** The module of each member. */
const modules = {
  alertChannels: api.AlertChannels,
  alerts: api.Alerts,
  apiKeys: api.ApiKeys,
  assets: api.Assets,
  assistants: api.Assistants,
  audit: api.Audit,
  bulkOperations: api.BulkOperations,
  changes: api.Changes,
  consoleTickets: api.ConsoleTickets,
  failures: api.Failures,
  files: api.Files,
  outputs: api.Outputs,
  processes: api.Processes,
  processRuns: api.ProcessRuns,
  roles: api.Roles,
  room: api.Room,
  schedules: api.Schedules,
  secrets: api.Secrets,
  stepRuns: api.StepRuns,
  taskPackages: api.TaskPackages,
  triggers: api.Triggers,
  users: api.Users,
  webhooks: api.Webhooks,
  workerGroups: api.WorkerGroups,
  workers: api.Workers,
  workItems: api.WorkItems,
  workspaces: api.Workspaces
}
type ModuleName = keyof typeof modules

const others = ["close", "process", "run", "with", "withSignal"]

/** What a module has beside functions for users of promises, and why. */
const left: Readonly<Record<string, ReadonlyArray<string>>> = {
  // For the modules themselves.
  files: ["fetchSigned"],
  // Of a value that a program has, whose `state` says it.
  processRuns: ["hasEnded"],
  bulkOperations: ["hasEnded"],
  // Errors, which are exported beside `connect`.
  assets: ["AssetUploadFailed"],
  // For receivers, which need no connection: `verifyWebhook` and `receiveWebhook`.
  workItems: ["PartlyCreated"],
  webhooks: ["InvalidSignature", "UnreadableEvent", "receive", "sign", "verify"]
}

/** Modules of the Effect form that are no part of a room. */
const without = [
  "ControlRoom",
  "ControlRoomError",
  "Credentials",
  "Events",
  "Idempotency",
  "Ids",
  "Named",
  "Payload",
  "Policy",
  "PollingClock",
  "Recording",
  "StandardSchema",
  "Upload",
  "WebhookSignature"
]

const isFunctionOrEffect = ([, value]: readonly [string, unknown]) =>
  typeof value === "function" || Effects.isEffect(value)

describe("the client with promises", () => {
  it("has every module of a room", () => {
    const names = Object.keys(api).map((name) => `${name[0]?.toLowerCase()}${name.slice(1)}`)
    const left = new Set(without.map((name) => `${name[0]?.toLowerCase()}${name.slice(1)}`))
    assert.sameMembers(
      names.filter((name) => !left.has(name)),
      Object.keys(modules)
    )
    assert.sameMembers(Object.keys(room), [...Object.keys(modules), ...others])
  })

  for (const [name, module] of Object.entries(modules)) {
    it(`has the functions of ${name}, and nothing internal`, () => {
      const functions = Object.entries(module)
        .filter(isFunctionOrEffect)
        .map(([member]) => member)
      assert.sameMembers(
        functions.filter((member) => !left[name]?.includes(member)),
        // A module of the table above, which is one of the client.
        Object.keys(room[name as ModuleName])
      )
    })
  }

  it("has the functions of processes as code that need a room", () => {
    const plain = ["decodeOutputs", "definition", "describePlan", "encodePayloads", "isProcess", "make", "packageTask"]
    const errors = ["InvalidOutput", "InvalidPayload", "InvalidProcess", "NotDeployed", "RunUnresolved", "WaitingItems"]
    const functions = Object.entries(Process)
      .filter(isFunctionOrEffect)
      .map(([member]) => member)
    assert.sameMembers(functions, [...Object.keys(room.process), ...plain, ...errors, "step"])
  })
})

describe("the client of some modules", () => {
  const options = { baseUrl: "http://127.0.0.1:4700", apiKey: "key", workspaceId: "workspace" }

  it("has these, and what concerns all of them", () => {
    const { outputs, workItems } = resources
    const some = connectOnly({ outputs, workItems }, options)
    assert.sameMembers(Object.keys(some), ["outputs", "workItems", ...others.filter((name) => name !== "process")])
    assert.sameMembers(Object.keys(some.workItems), Object.keys(room.workItems))
    assert.sameMembers(Object.keys(some.with({ timeout: "1 second" })), Object.keys(some))
    expectTypeOf(some.workItems).toEqualTypeOf<Client["workItems"]>()
    expectTypeOf(some).not.toHaveProperty("processes")
  })

  it("may have every module", () => {
    assert.sameMembers(Object.keys(resources), [...Object.keys(modules), "process"])
    const all = connectOnly(resources, options)
    assert.sameMembers(Object.keys(all), Object.keys(room))
    expectTypeOf(all).toExtend<Client>()
  })

  it("is refused under its name without a part of its room", () => {
    assert.throws(() => connectOnly({}, { ...options, apiKey: "" }), TypeError, /^connectOnly: apiKey missing or empty/)
  })
})

/** Without the cursor as an argument of its own, which lists take for one version more. */
type WithoutCursor<A extends ReadonlyArray<unknown>> = A extends [(infer Filter)?, (string | undefined)?]
  ? [Filter?]
  : A extends [infer Parent, (infer Options)?, (string | undefined)?]
    ? [Parent, Options?]
    : A

describe("the page about programs without Effect", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/without-effect.md"), "utf8")
  const [, client = ""] = /^## The client$([^]*?)^## /m.exec(page) ?? []
  const codesOf = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)

  it("lists the members of a client, each once", () => {
    const [, table = ""] = /^\| members of a client[^]*?\n((?:\|.*\n)+)/m.exec(client) ?? []
    assert.sameMembers(codesOf(table), Object.keys(room))
  })

  it("lists the classes of errors", () => {
    const [, list = ""] = /^Errors are classes, ([^]*?)\. /m.exec(client) ?? []
    const classes = Object.entries(promises).filter(
      ([, value]) => typeof value === "function" && value.prototype instanceof promises.ControlRoomError
    )
    assert.sameMembers(codesOf(list), ["ControlRoomError", "close", ...classes.map(([name]) => name)])
  })

  it("names what there is in modules", async () => {
    const named = [...page.matchAll(/`(\w+)`,? of `(@signalbox\/api\/\w+)`/g)]
    assert.isAbove(named.length, 1)
    for (const [text, name = "", module = ""] of named) {
      const exported: object = await import(module)
      assert.property(exported, name, text)
    }
  })
})

/** Arguments without Effect, and the options of a call. */
type Arguments<A extends ReadonlyArray<unknown>> = [...{ [K in keyof A]: Plain<A[K]> }, options?: CallOptions]

/** A page, as a list with promises resolves to it. */
type Paged<S> = S extends Page<infer I> ? ListPage<I> : S

/** A function of a module, with promises. */
type Promised<F, Name> =
  F extends Effect.Effect<infer A, infer _E, infer _R>
    ? (options?: CallOptions) => ApiPromise<A>
    : F extends (...args: infer A) => Effect.Effect<infer S, infer _E, infer _R>
      ? Name extends `list${string}`
        ? (...args: Arguments<Name extends "list" ? WithoutCursor<A> : A>) => ApiPromise<Paged<S>>
        : (...args: Arguments<A>) => ApiPromise<S>
      : F extends (...args: infer A) => Stream.Stream<infer I, infer _E, infer _R>
        ? (...args: Arguments<A>) => AsyncIterable<I>
        : never

/** The arguments of the functions of an interface. */
type ParametersOf<F> = F extends (...args: infer A) => unknown ? A : never

/**
 * Members of an interface that promise more than the module does, or take less. `K` that is no member of the module is one too.
 */
type Different<M, C> = {
  [K in keyof C]: K extends keyof M
    ? Promised<M[K], K> extends C[K]
      ? ParametersOf<Promised<M[K], K>> extends ParametersOf<C[K]>
        ? never
        : [K, "takes less"]
      : [K, "promises more"]
    : [K, "is none"]
}[keyof C]

/** With a `schema` these have a signature of its own, of which `infer` sees nothing: they are used below. */
type AllDifferent = {
  [N in ModuleName]: Exclude<
    Different<(typeof modules)[N], Client[N]>,
    N extends "workItems" ? ["get" | "list" | "stream", unknown] : never
  >
}[ModuleName]

interface Invoice {
  readonly total: number
}
const schema = Schema.Struct({ total: Schema.Finite })
const invoice: Invoice = { total: 1 }

describe("the interfaces with promises", () => {
  it("are what the modules take and return", () => {
    expectTypeOf<AllDifferent>().toBeNever()
  })

  it("type what is read by a schema, and take payloads of any interface", () => {
    const use = () =>
      [
        room.workItems.get("item", { schema }),
        room.workItems.get("item"),
        room.workItems.list({ schema, limit: 5 }),
        room.outputs.stream("run", { schema }),
        room.workItems.create({ process: "process", payload: invoice }),
        room.workItems.createMany({ process: "process", payloads: [invoice] }),
        room.processRuns.start("process", { payloads: [invoice] }),
        room.processRuns.start("process", { payloads: [{ total: 1 }], schema }),
        room.workItems.updatePayload("item", invoice, { previous: invoice })
      ] as const
    type Used = ReturnType<typeof use>
    expectTypeOf<Awaited<Used[0]>["payload"]>().toEqualTypeOf<{ readonly total: number }>()
    expectTypeOf<Awaited<Used[2]>["data"][number]["payload"]>().toEqualTypeOf<{ readonly total: number }>()
    expectTypeOf<Used[3]>().toExtend<AsyncIterable<{ readonly payload: Invoice }>>()
  })
})
