/** Payloads with numbers that JavaScript rounded when it read them. */
import type { RoundedPath } from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { NumberRounded } from "../../RobotError.ts"

const valueAt = (json: Schema.Json | undefined, path: RoundedPath): unknown => {
  let value: unknown = json
  for (const key of path) {
    if (!Predicate.isObjectOrArray(value)) return undefined
    value = Object.getOwnPropertyDescriptor(value, key)?.value
  }
  return value
}

/**
 * Creates a check of what an item saves: it fails where a number that was rounded in `read` stands unchanged at its path.
 * It costs nothing for an item without such numbers.
 */
export const check = (read: Schema.Json, rounded: ReadonlyArray<RoundedPath>) => {
  // Read now, because a task may change the payload that it got.
  const numbers = rounded.map((path) => ({ path, number: valueAt(read, path) }))
  return (what: "payload" | "output", saved: Schema.Json): Effect.Effect<void, NumberRounded> => {
    const found = numbers.find(({ number, path }) => valueAt(saved, path) === number)
    if (found === undefined) return Effect.void
    const message = `${[what, ...found.path].join(".")}: JavaScript rounded this number of the work item, so that saving it would change it; send the number as text when you create the item`
    return new NumberRounded({ message })
  }
}
