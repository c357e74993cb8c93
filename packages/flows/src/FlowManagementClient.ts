/**
 * A client for `FlowManagement.layerRoutes` of another program.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import type * as HttpClient from "effect/http/HttpClient"
import { FlowHistory } from "./FlowHistory.ts"
import type { RunNow, Schedule as FlowSchedule } from "./FlowSchedules.ts"
import { Inspection as InspectionJson, Listed, VersionStatus as VersionJson } from "./internal/management/Contract.ts"
import * as Reading from "./internal/management/Reading.ts"
import * as Requests from "./internal/management/Requests.ts"
import { Api as SchedulesApi, RunNow as RunNowJson, Schedule as ScheduleJson } from "./internal/management/Schedules.ts"
import { Item as ItemJson } from "./internal/management/States.ts"

export type { Awaited, Start } from "./internal/management/Contract.ts"
export type { RequestOptions } from "./internal/management/Reading.ts"
export { FlowManagementError, type Options } from "./internal/management/Requests.ts"

/** Encodes results as the routes do: times in ISO 8601, names with underscores. For programs that print them. */
export const onWire = {
  listed: Schema.encodeSync(Listed),
  version: Schema.encodeSync(VersionJson),
  inspection: Schema.encodeSync(InspectionJson),
  history: Schema.encodeSync(FlowHistory),
  item: Schema.encodeSync(ItemJson),
  schedule: Schema.encodeSync(ScheduleJson),
  runNow: Schema.encodeSync(RunNowJson)
}

const make = Effect.fnUntraced(function* (options: Requests.Options) {
  const requests = Requests.to(options)
  const { call, done, read } = requests
  const { schedules } = yield* HttpApiClient.make(SchedulesApi, requests.options)
  return FlowManagementClient.of({
    ...(yield* Requests.executionsOf(requests)),
    ...(yield* Reading.to(requests)),
    schedules: {
      list: Effect.map(read(schedules.list()), ({ schedules }) => schedules),
      get: (name) => read(schedules.get({ params: { name } })),
      pause: (name, note, options = {}) => done(schedules.pause({ params: { name }, payload: { note, ...options } })),
      resume: (name) => done(schedules.resume({ params: { name } })),
      runNow: (name) => call(schedules.runNow({ params: { name } })),
      backfill: (name, from, to) =>
        Effect.map(
          call(schedules.backfill({ params: { name }, payload: { from, to } }), Requests.longTimeout),
          ({ asked }) => asked
        ),
      remove: (name) => done(schedules.remove({ params: { name } }))
    }
  })
})

/**
 * The functions of `FlowExecutions`, and of `FlowSchedules` as `schedules`, for another program.
 *
 * ```ts
 * import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import { FlowManagementClient } from "@signalbox/flows/FlowManagementClient"
 *
 * export const resumed = (execution: string) =>
 *   Effect.flatMap(FlowManagementClient, (flows) => flows.resume(execution))
 *
 * export const connected = (token: Redacted.Redacted) =>
 *   FlowManagementClient.layer({ url: "http://127.0.0.1:4800", token }).pipe(
 *     Layer.provide(NodeHttpClient.layerUndici)
 *   )
 * ```
 */
export class FlowManagementClient extends Context.Service<
  FlowManagementClient,
  Requests.Executions &
    Reading.Said & {
      /** The functions of `FlowSchedules`. */
      readonly schedules: {
        readonly list: Requests.Call<ReadonlyArray<FlowSchedule>>
        readonly get: (name: string) => Requests.Call<FlowSchedule>
        readonly pause: (name: string, note: string, options?: { readonly by?: string }) => Requests.Call<void>
        readonly resume: (name: string) => Requests.Call<void>
        readonly runNow: (name: string) => Requests.Call<RunNow>
        readonly backfill: (name: string, from: number, to: number) => Requests.Call<number>
        readonly remove: (name: string) => Requests.Call<void>
      }
    }
>()("@signalbox/flows/FlowManagementClient") {
  static readonly layer = (
    options: Requests.Options
  ): Layer.Layer<FlowManagementClient, never, HttpClient.HttpClient> =>
    Layer.effect(FlowManagementClient, make(options))
}
