/** Every setting of `up` with its value and where it is from, as `signalbox config` shows them. */
import * as Effect from "effect/Effect"
import { environments } from "./Environments.ts"
import { logs } from "./Logs.ts"
import { server } from "./Server.ts"
import * as Setting from "./Setting.ts"

/** In the order of the output. */
export const all: Setting.Table = { ...server, ...logs, ...environments }

/** A setting in the output of `signalbox config`. */
export interface Shown {
  readonly name: string
  readonly flag: string | null
  readonly variable: string | null
  readonly value: string
  readonly source: Setting.Resolved<unknown>["source"]
  readonly default: string
  readonly description: string
}

/** Each setting with its value and its source. Fails with the first invalid one. */
export const show = Effect.fnUntraced(function* (given: Setting.AllGiven) {
  return yield* Effect.forEach(Object.entries(all), ([name, setting]) =>
    Effect.map(Setting.resolve(setting, given[name]), ({ shown, source }): Shown => ({
      name,
      flag: setting.flag === undefined ? null : `--${setting.flag}`,
      variable: setting.variable ?? null,
      value: shown,
      source,
      default: setting.fallback,
      description: setting.description
    }))
  )
})
