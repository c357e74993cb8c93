/**
 * Webhooks and their deliveries.
 */
import type { ProcessId, WebhookId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import { Outbox } from "../delivery/Outbox.ts"
import { TargetGuard } from "../delivery/TargetGuard.ts"
import { Deliveries } from "../store/notifications/Deliveries.ts"
import { Processes } from "../store/processes/Processes.ts"
import { Webhooks } from "../store/notifications/Webhooks.ts"
import type { StoredWebhook } from "../store/notifications/StoredWebhook.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { refusals, invalidRequest, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"

export const layer = Endpoints.group(
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Webhooks
    const deliveries = yield* Deliveries
    const processes = yield* Processes
    const outbox = yield* Outbox
    const guard = yield* TargetGuard
    const { page } = yield* Pagination

    interface Params {
      readonly workspace_id: WorkspaceId
      readonly webhook_id: WebhookId
    }
    const find = (params: Params) =>
      orNotFound("webhook", params.webhook_id, store.get(params.workspace_id, params.webhook_id))

    const withSecret = Effect.fnUntraced(function* ({ sealed, view }: StoredWebhook) {
      const [secret] = yield* store.secrets(sealed)
      return { ...view, secret }
    })

    /** The process that a webhook names must exist, and its endpoint must be an allowed target. */
    const check = Effect.fnUntraced(function* (
      workspace: WorkspaceId,
      given: { readonly endpoint?: string; readonly process?: { readonly id: ProcessId } | null }
    ) {
      const refusal = given.endpoint === undefined ? null : guard.refuses(given.endpoint)
      if (refusal !== null) return yield* invalidRequest(`endpoint: ${refusal}`)
      const process = given.process?.id
      if (process !== undefined) yield* orNotFound("process", process, processes.get(workspace, process))
    })

    return handlers.handleAll({
      getWebhook: ({ params }) => Effect.flatMap(find(params), withSecret),
      listWebhooks: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createWebhook: Effect.fnUntraced(function* ({ params, payload }) {
        yield* check(params.workspace_id, payload)
        const webhook = yield* store.create(params.workspace_id, {
          endpoint: payload.endpoint,
          events: payload.enabled_events,
          process: payload.process?.id ?? null
        })
        return yield* withSecret(webhook)
      }),
      updateWebhook: Effect.fnUntraced(function* ({ params, payload }) {
        yield* find(params)
        yield* check(params.workspace_id, payload)
        const { enabled, enabled_events, endpoint, process, rotate_secret } = payload
        const change = defined({
          endpoint,
          events: enabled_events,
          process: process === null ? null : process?.id,
          enabled,
          rotateSecret: rotate_secret
        })
        const updated = store.update(params.workspace_id, params.webhook_id, change)
        return yield* withSecret(yield* orNotFound("webhook", params.webhook_id, updated))
      }),
      deleteWebhook: Effect.fnUntraced(function* ({ params }) {
        const { view } = yield* find(params)
        yield* store.remove(params.workspace_id, view.id)
        return { id: view.id, deleted: true } as const
      }),
      testWebhook: ({ params }) => Effect.flatMap(find(params), outbox.test),
      listWebhookDeliveries: Effect.fnUntraced(function* ({ params, query, request }) {
        const { view } = yield* find(params)
        const fetch = (from: Parameters<typeof deliveries.list>[2]) =>
          deliveries.list(view.id, query.state ?? null, from)
        return yield* page(request, query, fetch, Effect.succeed)
      }),
      redeliverWebhookDelivery: Effect.fnUntraced(function* ({ params }) {
        const webhook = yield* find(params)
        const id = params.delivery_id
        const delivery = yield* orNotFound("delivery", id, deliveries.get(webhook.view.id, id))
        return yield* refusals("CONFLICT")(outbox.redeliver(webhook, delivery))
      })
    })
  })
)
