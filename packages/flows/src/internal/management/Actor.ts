/** Who does what is recorded with a name: the control room that let a request in knows it better than its body. */
import { CurrentActor } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { Approval } from "../../Signals.ts"

/** Returns the name to record; fails with a message when the body has another. */
export const named = <A extends Schema.Json>(field: string, given: A | undefined) =>
  Effect.flatMap(CurrentActor, (actor) =>
    actor === null || given === undefined || given === actor.name
      ? Effect.succeed(actor?.name ?? given)
      : Effect.fail({
          message: `${field}: Expected nothing or ${JSON.stringify(actor.name)}, the name of the key of this request`
        })
  )

type JsonObject = { readonly [key: string]: Schema.Json }

/** Whatever else a value has: a flow that receives it ignores what its schema does not name. */
const isDecision = (value: Schema.Json): value is JsonObject =>
  Predicate.isObjectOrArray(value) && Object.hasOwn(value, "approved")
const isUnsigned = Schema.is(Approval.mapFields(Struct.omit(["by"])))

/** Returns the value of a signal; the decision of a person is that of who sends it. */
export const valueOf = Effect.fnUntraced(function* (value: Schema.Json, field = "value") {
  if (!isDecision(value)) return value
  const by = yield* named(`${field}.by`, value["by"])
  // A signal of the flow's own may have no such member.
  return by === undefined || !isUnsigned(value) ? value : { ...value, by }
})
