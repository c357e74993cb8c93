/**
 * A process that runs the family on a store, carries out orders from its standard input, and ends itself where its plan
 * says. SIGTERM, or the end of the input, ends it in peace.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createInterface } from "node:readline"
import { FlowEngine, over } from "../../../src/FlowEngine.ts"
import { Journal } from "../../../src/internal/journal/Journal.ts"
import * as Postgres from "../../../src/internal/journal/Postgres.ts"
import * as Sqlite from "../../../src/internal/journal/Sqlite.ts"
import { Ownership } from "../../../src/internal/ownership/Ownership.ts"
import * as Cluster from "../../../src/internal/ownership/Cluster.ts"
import * as Leases from "../../../src/internal/ownership/Leases.ts"
import * as Local from "../../../src/internal/ownership/Local.ts"
import { makeJumping } from "../Jumping.ts"
import * as CarryOut from "./CarryOut.ts"
import { firstProtocol } from "./FirstProtocol.ts"
import { type Die, Numbered, Plan } from "./Orders.ts"
import * as Runner from "./Runner.ts"

const plan = Schema.decodeSync(Schema.fromJsonString(Plan))(process.argv[2] ?? "")

let death: { readonly at: (typeof Die.Type)["at"]; count: number } | null = null
const reach = (at: (typeof Die.Type)["at"]) =>
  Effect.sync(() => {
    if (death?.at === at && --death.count === 0) process.kill(process.pid, "SIGKILL")
  })

/** Ends this process around writes. */
const dying = (journal: typeof Journal.Service) =>
  Journal.of({
    ...journal,
    write: (fence, write) =>
      reach("before a write").pipe(
        Effect.andThen(journal.write(fence, write)),
        Effect.tap(() => reach("after a write"))
      ),
    admit: (process, flow, most) =>
      reach("before a write").pipe(
        Effect.andThen(journal.admit(process, flow, most)),
        Effect.tap(() => reach("after a write"))
      )
  })
const { store } = plan
const runner = "file" in store || !plan.cluster ? null : Runner.layer({ ...store, url: store.directUrl ?? store.url })
/** The options of a Postgres. */
const optionsOf = ({ directUrl, schema, url }: Exclude<Plan["store"], { readonly file: string }>) => ({
  url: Redacted.make(url),
  ...(directUrl === undefined ? {} : { directUrl: Redacted.make(directUrl) }),
  schema
})
const journal = "file" in store ? Sqlite.layer(store.file) : Postgres.layer(optionsOf(store))
const dyingJournal = Layer.effect(Journal, Effect.map(Journal, dying)).pipe(Layer.provide(journal))
const mortal = () => {
  if (runner !== null) return Layer.provide(over(dyingJournal, Cluster.layer), runner)
  const { leaseMillis } = plan
  const leases = leaseMillis === null ? Leases.layer : Layer.effect(Ownership, Leases.makeWith(leaseMillis))
  return over(dyingJournal, "file" in store ? Local.layer : leases)
}
const immortal = () => {
  if (plan.first) {
    const first = Layer.provide(Layer.effect(Journal, Effect.map(Journal, firstProtocol)), journal)
    return over(first, "file" in store ? Local.layer : Leases.layer)
  }
  if ("file" in store) return FlowEngine.layerSqlite({ file: store.file })
  const options = optionsOf(store)
  if (runner !== null) return Layer.provide(FlowEngine.layerCluster(options), runner)
  return FlowEngine.layerPostgres(options)
}
const engine = plan.mortal ? mortal() : immortal()

const drill = CarryOut.make(plan)

const jumping = makeJumping(Clock.Clock.defaultValue())

const say = (line: object) => Effect.sync(() => void process.stdout.write(`${JSON.stringify(line)}\n`))

const program = Effect.gen(function* () {
  yield* drill.hooked
  yield* say({ ready: true })
  yield* Stream.fromAsyncIterable(createInterface({ input: process.stdin }), (cause) => cause).pipe(
    Stream.runForEach((line) =>
      Effect.gen(function* () {
        const { id, order } = yield* Schema.decodeEffect(Schema.fromJsonString(Numbered))(line)
        if (order.do === "jump") jumping.jump(order.millis)
        if (order.do === "die") death = { at: order.at, count: order.count }
        const exit = yield* Effect.exit(drill.carryOut(order))
        yield* say({
          id,
          ok: Exit.isSuccess(exit),
          value: Exit.isSuccess(exit) ? exit.value : String(Cause.squash(exit.cause))
        })
      }).pipe(Effect.forkScoped)
    )
  )
}).pipe(Effect.scoped)

// Around the flows: beside them, they would not see it.
const events = drill.events(reach("event"))
NodeRuntime.runMain(
  program.pipe(
    Effect.provide(Layer.provideMerge(drill.flows, engine).pipe(Layer.provideMerge(events))),
    Effect.provideService(Clock.Clock, jumping.clock)
  )
)
