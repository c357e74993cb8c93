/**
 * Triggers: conditions under which runs of a process start, and addresses whose requests become work items. An extension
 * of the hosted service's interface.
 */
import * as Effect from "effect/Effect"
import type { ProcessId, TriggerId } from "./contract/Ids.ts"
import type { Deleted, Page } from "./contract/Common.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Triggers.ts"
import { names, refuseUnknown, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, type ProcessRef, returning, withProcess } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type {
  Trigger,
  TriggerCreated,
  TriggerDefinition,
  TriggerHandshake,
  TriggerListed
} from "./contract/Triggers.ts"

const call = {
  get: returning<contract.Trigger, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.TriggerListed>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.TriggerCreated, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.create)),
  update: returning<contract.TriggerCreated, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.update)),
  rotate: returning<contract.TriggerCreated, Conflict | NotFound>()(inWorkspace(contract.rotate)),
  remove: returning<Deleted<TriggerId>, NotFound>()(inWorkspace(contract.remove))
}

/** A trigger as it is written: its definition, whose process is an id or an object with it. */
export interface NewTrigger extends Omit<contract.TriggerDefinition, "process"> {
  readonly process: ProcessRef
}

/** Which triggers, and which page of them. */
export interface PageFilter extends ListOptions {
  readonly process?: ProcessId | undefined
}

const listed = names<PageFilter>("filter", { process: 1, limit: 1, cursor: 1 })
const streamed = names<Omit<PageFilter, "cursor">>("filter", { process: 1, limit: 1 })

/** Returns a trigger with its runs that have not ended. */
export const get = Effect.fn("Triggers.get")((trigger: TriggerId) => call.get({ params: { trigger_id: trigger } }))

/**
 * Returns one page, newest first; with `process`, of the triggers of one process.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as Triggers from "@signalbox/api/Triggers"
 *
 * export const of = (process: ProcessId) => Triggers.list({ process })
 * ```
 */
export const list = Effect.fn("Triggers.list")(
  ({ cursor, limit, process }: PageFilter = {}) => call.list({ query: { process_id: process, limit, cursor } }),
  refusing("triggers.list", { 0: listed })
)

/** Emits all triggers, newest first. */
export const stream = (filter: Omit<PageFilter, "cursor"> = {}) =>
  pages((cursor) => list({ ...filter, cursor })).pipe(refusingStream("triggers.stream", streamed, filter))

/**
 * Creates a trigger. `url` of the result is its address, redacted, if it has a `webhook`; it is returned only here.
 * Fails with `InvalidRequest` that names the field, and with `Conflict` when the name is in use.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as Triggers from "@signalbox/api/Triggers"
 * import type * as Redacted from "effect/Redacted"
 *
 * export const onPush = (process: ProcessId, secret: Redacted.Redacted) =>
 *   Triggers.create({
 *     name: "pushes",
 *     process: { id: process },
 *     start: { at_least: 1 },
 *     webhook: {
 *       signature: {
 *         type: "hmac",
 *         header: "X-Hub-Signature-256",
 *         prefix: "sha256=",
 *         secret
 *       },
 *       event_id: { header: "X-GitHub-Delivery" },
 *       payload: { repository: "/repository/full_name", commit: "/after" }
 *     }
 *   })
 * ```
 */
export const create = Effect.fn("Triggers.create")(function* (definition: NewTrigger) {
  const payload = withProcess(definition)
  yield* refuseUnknown("triggers.create", contract.TriggerDefinition, payload)
  return yield* call.create({ payload })
})

/** Replaces the definition of a trigger; its address stays, and a secret that is left out. */
export const update = Effect.fn("Triggers.update")(function* (trigger: TriggerId, definition: NewTrigger) {
  const payload = withProcess(definition)
  yield* refuseUnknown("triggers.update", contract.TriggerDefinition, payload)
  return yield* call.update({ params: { trigger_id: trigger }, payload })
})

/** Gives a trigger a new address, and revokes the old one. */
export const rotateUrl = Effect.fn("Triggers.rotateUrl")((trigger: TriggerId) =>
  call.rotate({ params: { trigger_id: trigger } })
)

/** Deletes a trigger and revokes its address. Its runs go on, and its items stay. Irreversible. */
export const remove = Effect.fn("Triggers.remove")((trigger: TriggerId) =>
  call.remove({ params: { trigger_id: trigger } })
)
