/**
 * Whether a version of a flow runs somewhere.
 */
import * as Effect from "effect/Effect"
import * as Accepting from "../engine/Accepting.ts"
import { engineOf } from "../engine/EngineOf.ts"
import type { Execution } from "../model/Execution.ts"

/** Fails when no running program has registered this version of the flow; `isNew`: to take new executions. */
export const runnable = Effect.fnUntraced(function* (there: Execution, version: number, isNew: boolean) {
  const { engine } = yield* engineOf
  const processes = yield* engine.journal.processes
  const versions = processes
    .flatMap(({ flows }) => flows)
    .filter(({ drain }) => !isNew || drain !== true)
    .flatMap((known) => (known.flow === there.flow ? [known.version] : []))
  if (versions.includes(version)) return
  const known = [...new Set(versions)].sort((one, other) => one - other)
  const instead = known.length === 0 ? "no version of it is" : `registered are ${known.join(", ")}`
  return yield* Accepting.conflict(
    there,
    `version: no running program has registered ${there.flow}, version ${version}; ${instead}`
  )
})
