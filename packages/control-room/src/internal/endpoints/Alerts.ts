/** Alerts, their firings and messages. */
import type { AlertDefinition, AlertHours, AlertRule } from "@signalbox/api/contract/Alerts"
import { isDay } from "@signalbox/api/contract/Common"
import { AlertId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Endpoints from "../edge/Endpoints.ts"
import * as Actor from "../edge/Actor.ts"
import { conflict, invalidRequest, notFound, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { Alerter } from "../runs/Alerter.ts"
import { AlertChannels } from "../store/notifications/AlertChannels.ts"
import { AlertMessages } from "../store/notifications/AlertMessages.ts"
import { Alerts } from "../store/notifications/Alerts.ts"
import { Database } from "../store/database/Database.ts"
import { Processes } from "../store/processes/Processes.ts"
import { Schedules } from "../store/starts/Schedules.ts"
import { Webhooks } from "../store/notifications/Webhooks.ts"
import { WorkerGroups } from "../store/workers/WorkerGroups.ts"

export const layer = Endpoints.group(
  "alerts",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Alerts
    const channels = yield* AlertChannels
    const messages = yield* AlertMessages
    const alerter = yield* Alerter
    const actor = yield* Actor.make
    const processes = yield* Processes
    const groups = yield* WorkerGroups
    const schedules = yield* Schedules
    const webhooks = yield* Webhooks
    const { millis, newId, transaction } = yield* Database
    const { page } = yield* Pagination

    interface Params {
      readonly workspace_id: WorkspaceId
      readonly alert_id: AlertId
    }
    const find = (params: Params) =>
      orNotFound("alert", params.alert_id, store.get(params.workspace_id, params.alert_id))
    const locked = (params: Params) =>
      orNotFound("alert", params.alert_id, store.lock(params.workspace_id, params.alert_id))

    const exists = <A>(what: string, id: string, field: string, found: Effect.Effect<A | null>) =>
      Effect.filterOrFail(
        found,
        (it) => it !== null,
        () => notFound(what, id, `rule.${field}.id`)
      )

    /** What the rule names must exist. */
    const checkRule = Effect.fnUntraced(function* (workspace: WorkspaceId, rule: AlertRule) {
      if ("process" in rule && rule.process !== undefined) {
        yield* exists("process", rule.process.id, "process", processes.get(workspace, rule.process.id))
      }
      if ("worker_group" in rule && rule.worker_group !== undefined) {
        yield* exists("worker group", rule.worker_group.id, "worker_group", groups.get(workspace, rule.worker_group.id))
      }
      if ("schedule" in rule && rule.schedule !== undefined) {
        yield* exists("schedule", rule.schedule.id, "schedule", schedules.get(workspace, rule.schedule.id))
      }
      if ("webhook" in rule && rule.webhook !== undefined) {
        yield* exists("webhook", rule.webhook.id, "webhook", webhooks.get(workspace, rule.webhook.id))
      }
    })

    const checkDays = Effect.fnUntraced(function* (field: string, hours: AlertHours | undefined) {
      for (const [index, day] of (hours?.except ?? []).entries()) {
        if (isDay(day)) continue
        return yield* invalidRequest(`${field}.except.${index}: Expected a day that exists, such as 2026-12-25`)
      }
    })

    const check = Effect.fnUntraced(function* (workspace: WorkspaceId, definition: AlertDefinition) {
      yield* checkDays("quiet", definition.quiet)
      if (definition.rule.type === "nothing_completed") yield* checkDays("rule.hours", definition.rule.hours)
      yield* checkRule(workspace, definition.rule)
      const types = yield* channels.typesOf(
        workspace,
        definition.channels.map(({ id }) => id)
      )
      for (const [index, { id }] of definition.channels.entries()) {
        const type = types.get(id)
        if (type === undefined) return yield* notFound("alert channel", id, `channels.${index}.id`)
        if (type === "heartbeat") {
          return yield* invalidRequest(
            `channels.${index}.id: a heartbeat receives no messages; it is called every minute without an alert`
          )
        }
      }
    })

    const taken = (name: string) =>
      conflict(`name: an alert "${name}" already exists; choose another name or change that one`)

    return handlers.handleAll({
      getAlert: ({ params }) => find(params),
      listAlerts: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createAlert: Effect.fnUntraced(function* ({ params, payload }) {
        const alert_id = AlertId.make(yield* newId)
        yield* check(params.workspace_id, payload)
        if ((yield* store.create(params.workspace_id, alert_id, payload)) === null) return yield* taken(payload.name)
        return yield* find({ ...params, alert_id })
      }, transaction),
      updateAlert: Effect.fnUntraced(function* ({ params, payload }) {
        const before = yield* locked(params)
        yield* check(params.workspace_id, payload)
        if ((yield* store.update(before, payload)) === null) return yield* taken(payload.name)
        return yield* find(params)
      }, transaction),
      deleteAlert: Effect.fnUntraced(function* ({ params }) {
        if (!(yield* store.remove(params.workspace_id, params.alert_id))) {
          return yield* notFound("alert", params.alert_id)
        }
        return { id: params.alert_id, deleted: true } as const
      }),
      testAlert: ({ params }) => Effect.map(Effect.flatMap(locked(params), alerter.test), (messages) => ({ messages })),
      muteAlert: Effect.fnUntraced(function* ({ params, payload }) {
        const { note = null, until } = payload
        const time = Date.parse(until)
        if (time <= (yield* millis)) {
          return yield* invalidRequest("until: Expected a time in the future")
        }
        yield* locked(params)
        const { id, name } = yield* actor
        const by = { id, name }
        yield* store.mute(params.workspace_id, params.alert_id, { until: new Date(time).toISOString(), note, by })
        return yield* find(params)
      }, transaction),
      unmuteAlert: Effect.fnUntraced(function* ({ params }) {
        yield* locked(params)
        yield* store.mute(params.workspace_id, params.alert_id, null)
        return yield* find(params)
      }, transaction),
      listAlertMessages: Effect.fnUntraced(function* ({ params, query, request }) {
        yield* find(params)
        const fetch = (from: Parameters<typeof messages.list>[2]) =>
          messages.list(params.workspace_id, params.alert_id, from)
        return yield* page(request, query, fetch, Effect.succeed)
      }),
      listAlertFirings: ({ params, query, request }) =>
        page(
          request,
          query,
          (from) =>
            store.firings(params.workspace_id, { alert: query.alert_id ?? null, state: query.state ?? null }, from),
          Effect.succeed
        )
    })
  })
)
