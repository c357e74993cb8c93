/** Triggers of processes; `Hooks.ts` takes what comes to their addresses. */
import { type ProcessId, TriggerId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { TriggerCreated, TriggerDefinition } from "@signalbox/api/contract/Triggers"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Base64 from "effect/encoding/Base64"
import * as Redacted from "effect/Redacted"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, invalidRequest, notFound, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { hooksPath } from "../settings/HooksPath.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { Database } from "../store/database/Database.ts"
import { Processes } from "../store/processes/Processes.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import type { Hook, NewTrigger, Starts, StoredTrigger } from "../store/starts/StoredTrigger.ts"
import { Triggers } from "../store/starts/Triggers.ts"
import * as Tokens from "../vault/Tokens.ts"
import * as SecretChecks from "./SecretChecks.ts"

const defaultMaxWaiting = 1000

const startsOf = ({ start }: TriggerDefinition): Starts | null =>
  start === undefined
    ? null
    : { atLeast: start.at_least ?? null, oldestSeconds: start.oldest_seconds ?? null, maxRuns: start.max_runs ?? 1 }

const hookOf = ({ webhook }: TriggerDefinition): Hook | null => {
  if (webhook === undefined) return null
  const { event_id, handshake, max_waiting, payload, signature } = webhook
  return {
    signature:
      signature === undefined
        ? null
        : signature.type === "hmac"
          ? { type: signature.type, header: signature.header, prefix: signature.prefix ?? "" }
          : { type: signature.type },
    handshake: handshake ?? null,
    payload: payload ?? "",
    eventId: event_id ?? null,
    maxWaiting: max_waiting ?? defaultMaxWaiting
  }
}

/** Whether a secret of Standard Webhooks is one key, however it is read: base64 after `whsec_`, or any other text. */
const isStandardSecret = (secret: string) =>
  !secret.startsWith("whsec_") || Result.isSuccess(Base64.decode(secret.slice("whsec_".length)))

export const layer = Endpoints.group(
  "triggers",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* Triggers
    const processes = yield* Processes
    const runs = yield* ProcessRuns
    const publicUrl = yield* PublicUrl
    const secretChecks = yield* SecretChecks.make
    const { newId, transaction } = yield* Database
    const { page } = yield* Pagination

    interface Params {
      readonly workspace_id: WorkspaceId
      readonly trigger_id: TriggerId
    }
    const find = (params: Params) =>
      orNotFound("trigger", params.trigger_id, store.get(params.workspace_id, params.trigger_id))
    const locked = (params: Params) =>
      orNotFound("trigger", params.trigger_id, store.lock(params.workspace_id, params.trigger_id))

    const shown = Effect.fnUntraced(function* ({ id, view, workspaceId }: StoredTrigger) {
      const live = yield* runs.liveOf(workspaceId, id)
      return { ...view, running: live.map((run) => ({ id: run })) }
    })

    const withUrl = Effect.fnUntraced(function* (params: Params, token: string | null) {
      const trigger = yield* Effect.flatMap(find(params), shown)
      const url = token === null ? null : Redacted.make(`${publicUrl}${hooksPath}/${token}`)
      const created: TriggerCreated = { ...trigger, url }
      return created
    })

    const lockedProcess = (workspace: WorkspaceId, id: ProcessId) =>
      Effect.filterOrFail(
        processes.lock(workspace, id, "share"),
        (process) => process !== null,
        () => notFound("process", id, "process.id")
      )

    const taken = (name: string) =>
      conflict(`name: a trigger "${name}" already exists; choose another name or change that one`)

    /** The sealed secret after a request: a new one, the one before, or none. */
    const secretAfter = Effect.fnUntraced(function* (
      id: TriggerId,
      { webhook }: TriggerDefinition,
      before: StoredTrigger | null
    ) {
      if (webhook === undefined) return null
      const { handshake, signature } = webhook
      if (handshake === "asana") {
        if (signature !== undefined) {
          return yield* invalidRequest(
            "webhook.signature: the handshake of asana sets the secret; remove the signature"
          )
        }
        return before?.webhook?.handshake === "asana" ? before.secret : null
      }
      if (signature === undefined) return null
      if (signature.secret !== undefined) {
        if (signature.type === "standard_webhooks" && !isStandardSecret(Redacted.value(signature.secret))) {
          return yield* invalidRequest(
            "webhook.signature.secret: Expected base64 after whsec_; copy the secret of the sender as a whole"
          )
        }
        return yield* store.seal(id, signature.secret)
      }
      const kept = before?.webhook?.signature?.type === signature.type ? before.secret : null
      return kept ?? (yield* invalidRequest("webhook.signature.secret: needed to verify signatures"))
    })

    /** Checks what a request says of a trigger; the process is then locked. */
    const checked = Effect.fnUntraced(function* (
      workspace: WorkspaceId,
      id: TriggerId,
      payload: TriggerDefinition,
      existing: Effect.Effect<StoredTrigger, ReturnType<typeof notFound>> | null
    ) {
      if (payload.start === undefined && payload.webhook === undefined) {
        return yield* invalidRequest("start: Expected start, webhook, or both: without them the trigger has no effect")
      }
      // The process before its triggers, as when it is deleted.
      const process = yield* lockedProcess(workspace, payload.process.id)
      const before = existing === null ? null : yield* existing
      const secret = yield* secretAfter(id, payload, before)
      const webhook = hookOf(payload)
      yield* secretChecks.trigger(process, webhook)
      const made = webhook !== null && before?.tokenHash == null ? Tokens.make("hook", id) : null
      const row: NewTrigger = {
        processId: payload.process.id,
        name: payload.name,
        enabled: payload.enabled ?? true,
        starts: startsOf(payload),
        webhook,
        tokenHash: webhook === null ? null : (made?.hash ?? before?.tokenHash ?? null),
        secret
      }
      return { row, token: made?.token ?? null }
    })

    return handlers.handleAll({
      getTrigger: ({ params }) => Effect.flatMap(find(params), shown),
      listTriggers: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, query.process_id ?? null, from), Effect.succeed),
      createTrigger: Effect.fnUntraced(function* ({ params, payload }) {
        const id = TriggerId.make(yield* newId)
        const { row, token } = yield* checked(params.workspace_id, id, payload, null)
        if ((yield* store.create(params.workspace_id, id, row)) === null) return yield* taken(payload.name)
        return yield* withUrl({ ...params, trigger_id: id }, token)
      }, transaction),
      updateTrigger: Effect.fnUntraced(function* ({ params, payload }) {
        const { row, token } = yield* checked(params.workspace_id, params.trigger_id, payload, locked(params))
        if ((yield* store.update(params.workspace_id, params.trigger_id, row)) === null) {
          return yield* taken(payload.name)
        }
        return yield* withUrl(params, token)
      }, transaction),
      rotateTriggerUrl: Effect.fnUntraced(function* ({ params }) {
        const trigger = yield* locked(params)
        const { id, webhook } = trigger
        if (webhook === null) return yield* conflict("the trigger has no webhook and therefore no address")
        const { hash, token } = Tokens.make("hook", id)
        const secret = webhook.handshake === "asana" ? null : trigger.secret
        yield* store.update(params.workspace_id, id, { ...trigger, tokenHash: hash, secret })
        return yield* withUrl(params, token)
      }, transaction),
      deleteTrigger: Effect.fnUntraced(function* ({ params }) {
        if (!(yield* store.remove(params.workspace_id, params.trigger_id))) {
          return yield* notFound("trigger", params.trigger_id)
        }
        return { id: params.trigger_id, deleted: true } as const
      })
    })
  })
)
