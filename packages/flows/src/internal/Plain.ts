/**
 * A flow from start to end in this process: the same interpreter, and nothing is recorded.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Schema from "effect/Schema"
import { FlowEvents } from "../FlowEvents.ts"
import { failureOf, publishTo } from "./Announce.ts"
import { bodyOf } from "./Body.ts"
import type { Flow } from "./FlowType.ts"
import { type Host, type Outcome, run as interpret, type Session } from "./Interpreter.ts"
import { type Codec, decodeRecorded, record } from "./Values.ts"

const host: Host = {
  durable: false,
  name: "this process",
  now: Clock.currentTimeMillis,
  write: () => Effect.void,
  messages: () => Effect.succeed([])
}

const nothing = { entries: [], undos: [], messages: [], redos: new Map<string, number>() }

export const runPlain = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"]
): Effect.Effect<S["Type"], E["Type"], R> =>
  Effect.contextWith((context: Context.Context<R>) => {
    const id = crypto.randomUUID()
    const what = `the flow ${flow.name}`
    const makeBody = bodyOf(flow, context)
    let session: Session | undefined
    const chapters = Effect.gen(function* () {
      let json = (yield* record(flow.input, input, `the input of ${what}`)).json
      for (let chapter = 0; ; chapter++) {
        const outcome = yield* Effect.orDie(
          interpret({
            execution: { id, flow: flow.name, version: flow.version, chapter, state: "running", mail: 0 },
            history: nothing,
            host,
            body: makeBody({ id, input: json }),
            onSession: (made) => {
              session = made
            }
          })
        )
        if (outcome._tag !== "Continued") return outcome
        json = outcome.input
      }
    })
    const publish = publishTo(context.mapUnsafe.has(FlowEvents.key) ? FlowEvents.of(Context_get(context)) : FlowEvents.defaultValue())
    return Effect.void
  })
