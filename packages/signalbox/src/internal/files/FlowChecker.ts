/** Checks flows of a file with the packages that the file imports. */
import type * as Flow from "@signalbox/flows/Flow"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as ModuleFile from "./ModuleFile.ts"

export type AnyFlow = Parameters<typeof Flow.check>[0]
type History = Parameters<typeof Flow.check>[1]

/** Why an execution cannot continue with this code. */
export interface Misfit {
  readonly tag: string | null
  readonly message: string
  /** The code of the halt, as `signalbox flows show` would show it. */
  readonly code?: string
  /** The recorded step, and the one that the body reaches instead, for `FlowChanged`. */
  readonly recorded?: string
  readonly reached?: string | null
  readonly inputs?: { readonly recorded: Schema.Json; readonly reached: Schema.Json } | null
}

/** By the tag: the class of the error is that of another copy. */
const misfitOf = (error: Effect.Error<ReturnType<typeof Flow.check>>): Misfit => {
  if (error._tag === "FlowHalted") {
    const { code, message, tag } = error
    return { tag, message, ...defined({ code }) }
  }
  const { _tag: tag, inputs, message, reached, recorded } = error
  return { tag, message, recorded, reached, inputs }
}

/** Returns what finds and replays the flows that a file exports. Only data goes in and out: histories and misfits. */
export const make = Effect.fnUntraced(function* (file: string) {
  const flows = yield* ModuleFile.importFor<typeof Flow>(file, {
    name: "@signalbox/flows",
    module: "Flow",
    broughtBy: "signalbox"
  })
  const effect = yield* ModuleFile.importFor<typeof Effect>(flows.path, { name: "effect", module: "Effect" })
  const { check, isFlow } = flows.module
  const { match, runPromise } = effect.module
  return {
    isFlow,
    /** Replays an execution; null when it can continue. */
    check: (flow: AnyFlow, history: History): Effect.Effect<Misfit | null> =>
      Effect.promise((signal) =>
        runPromise(match(check(flow, history), { onSuccess: () => null, onFailure: misfitOf }), { signal })
      )
  }
})
