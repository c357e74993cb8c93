/** Who does what is recorded with a name: the control room that let a request in knows it better than its body. */
import { CurrentActor } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Approval } from "../../Signals.ts"

/** Returns the name to record; fails with a message when the body has another. */
export const named = (field: string, given: string | undefined) =>
  Effect.flatMap(CurrentActor, (actor) =>
    actor === null || given === undefined || given === actor.name
      ? Effect.succeed(actor?.name ?? given)
      : Effect.fail({
          message: `${field}: Expected nothing or ${JSON.stringify(actor.name)}, the name of the key of this request`
        })
  )

const Decision = Schema.Struct({ ...Approval.fields, by: Schema.optionalKey(Schema.String) })
const decode = Schema.decodeUnknownOption(Decision, { onExcessProperty: "error" })

/** Returns the value of a signal; the decision of a person is that of who sends it. */
export const valueOf = Effect.fnUntraced(function* (value: Schema.Json) {
  const decision = Option.getOrNull(decode(value))
  if (decision === null) return value
  const by = yield* named("value.by", decision.by)
  return by === undefined ? value : { ...decision, by }
})
