/** The conformance suite of flows: the same flows return the same results, with the same effects, on every engine. */
import { describe } from "@effect/vitest"
import type * as Layer from "effect/Layer"
import { makeBench, type Runner } from "./conformance/Bench.ts"
import { compensation } from "./conformance/Compensation.ts"
import { keys } from "./conformance/Keys.ts"
import { refusals } from "./conformance/Refusals.ts"
import { signals } from "./conformance/Signals.ts"
import { steps } from "./conformance/Steps.ts"
import { waiting } from "./conformance/Waiting.ts"

/** `layer` is built for each test. */
export const conformance = <R>(name: string, runner: Runner<R>, layer: Layer.Layer<R, unknown>, isVirtual = true) => {
  const bench = makeBench(runner, layer, isVirtual)
  // Where time is real they mostly wait.
  describe(`flows, ${name}`, { concurrent: !isVirtual }, () => {
    for (const part of [steps, waiting, signals, compensation, refusals, keys]) part(bench)
  })
}
