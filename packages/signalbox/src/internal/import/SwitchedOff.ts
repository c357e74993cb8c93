/** What acts arrives off: a command that is killed at any moment leaves nothing that acts. */
import * as Schedules from "@signalbox/api/Schedules"
import * as Effect from "effect/Effect"
import type { Writes } from "../apply/Schedules.ts"
import type { ImportStep } from "./Step.ts"

/** A time that does not come. A schedule that has it is one that a killed command has begun to create. */
export const never = "9999-01-01T00:00:00.000Z"
const note = "imported"

/** Creates schedules for a time that does not come, pauses them, and then gives them their times. */
export const schedules: Writes = {
  create: Effect.fnUntraced(function* (definition) {
    const { id } = yield* Schedules.create({ name: definition.name, process: definition.process, at: never })
    return yield* Schedules.pause(id, note).pipe(
      Effect.andThen(Schedules.update(id, definition)),
      Effect.tapError(() => Effect.ignore(Schedules.remove(id)))
    )
  }),
  update: (id, definition) => Effect.andThen(Schedules.pause(id, note), Schedules.update(id, definition))
}

/**
 * Steps that compare what exists as it is, on or off, and write it switched off. Both plans are of the same resources, in
 * the same order.
 */
export const written = (asItIs: ReadonlyArray<ImportStep>, off: ReadonlyArray<ImportStep>): ReadonlyArray<ImportStep> =>
  asItIs.map((step, index) => ({
    ...step,
    run: off[index]?.run ?? step.run,
    detail: step.action === "create" ? "off" : step.action === "change" ? `${step.detail}; off` : step.detail
  }))
