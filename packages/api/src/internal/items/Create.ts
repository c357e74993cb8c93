/** Work items as they are created, and their payloads as they are replaced. */
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { WorkItemId } from "../../contract/Ids.ts"
import type { WhenReferenceExists } from "../../contract/Order.ts"
import * as contract from "../endpoints/WorkItems.ts"
import { Conflict, ControlRoomError, InvalidRequest, NotFound } from "../../ControlRoomError.ts"
import type { Jsonable } from "../../Payload.ts"
import { names, refused, refusing } from "../calls/Known.ts"
import { inWorkspace, processOf, type ProcessRef, returning } from "../calls/Workspace.ts"
import { atIndex, partsOf } from "../payloads/CreateMany.ts"
import { json } from "../payloads/Json.ts"

const call = {
  create: returning<contract.WorkItem, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.create)),
  createMany: returning<
    { readonly work_items: ReadonlyArray<{ readonly id: WorkItemId }> },
    Conflict | InvalidRequest | NotFound
  >()(inWorkspace(contract.createMany)),
  updatePayload: returning<Pick<contract.WorkItem, "payload" | "masked">, Conflict | InvalidRequest | NotFound>()(
    inWorkspace(contract.updatePayload)
  )
}

/** How urgent new items are, and how they are found. Extensions of the hosted service's interface. */
export interface Order {
  /** −100 to 100, default 0; each point counts like ten minutes of waiting. */
  readonly priority?: number | undefined
  /** ISO 8601, with a zone: when the items shall be done. */
  readonly dueAt?: string | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  /** When an open item of the process has the reference: fail with `Conflict` (`refuse`, default), or return it (`join`). */
  readonly whenReferenceExists?: WhenReferenceExists | undefined
}

const orderOf = ({ dueAt, priority, tags, whenReferenceExists }: Order) =>
  defined({ priority, due_at: dueAt, tags, when_reference_exists: whenReferenceExists })

/** A new work item. */
export interface NewWorkItem extends Order {
  readonly process: ProcessRef
  /** Default null. */
  readonly payload?: Jsonable | undefined
  /** By which its sender knows it: 1 to 255 characters. An extension. */
  readonly reference?: string | undefined
}

const order = { priority: 1, dueAt: 1, tags: 1, whenReferenceExists: 1 } as const
const newWorkItem = names<NewWorkItem>("member", { ...order, process: 1, payload: 1, reference: 1 })

/**
 * Creates a work item in the queue of a process. Fails with `Conflict` when an open item of the process has its
 * `reference`: one that is neither done nor deleted.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const urgent = (process: ProcessId) =>
 *   WorkItems.create({
 *     process,
 *     payload: { order: 4711 },
 *     priority: 50,
 *     reference: "order-4711",
 *     whenReferenceExists: "join"
 *   })
 * ```
 */
export const create = Effect.fn("WorkItems.create")(
  function* (input: NewWorkItem) {
    const payload = yield* json("workItems.create", input.payload ?? null, "payload")
    return yield* call.create({
      payload: {
        process: processOf(input.process),
        payload,
        ...orderOf(input),
        ...defined({ reference: input.reference })
      }
    })
  },
  refusing("workItems.create", { 0: newWorkItem })
)

/** New work items. */
export interface NewWorkItems extends Order {
  readonly process: ProcessRef
  readonly payloads: ReadonlyArray<Jsonable>
  /** One for each payload, null for none. */
  readonly references?: ReadonlyArray<string | null> | undefined
}

const newWorkItems = names<NewWorkItems>("member", { ...order, process: 1, payloads: 1, references: 1 })

/**
 * Of many work items, some were created before a request failed: `ids` has theirs, in the order of their payloads, and `cause` is the
 * failure. To continue, create those from index `ids.length` on, or repeat the whole under the same scope of idempotency keys.
 */
export class PartlyCreated extends TaggedError<PartlyCreated>()("PartlyCreated", {
  ids: Schema.Array(WorkItemId),
  /** How many were to be created. */
  total: Schema.Finite,
  cause: Schema.Union([Conflict, InvalidRequest, NotFound, ControlRoomError])
}) {
  override get message(): string {
    const { cause, ids, total } = this
    return `${ids.length} of ${total} work items were created; continue from index ${ids.length}: ${cause.message}`
  }
}

/**
 * Creates a work item of each payload in the queue of a process, with one request for each 1,000, and returns their ids in that
 * order. All payloads and references are checked before the first request: `InvalidRequest` names the first that cannot be sent by
 * its index. A request creates all of its items or none; when one fails after others, fails with `PartlyCreated`, which has the ids of
 * what exists. Repeated under the same scope (`withIdempotencyScope`), nothing is created twice. An extension of the hosted service's
 * interface.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import { withIdempotencyScope } from "@signalbox/api/Idempotency"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 * import * as Effect from "effect/Effect"
 *
 * export const queue = (process: ProcessId, day: string) => {
 *   const payloads = Array.from({ length: 5_000 }, (_, n) => ({ day, n }))
 *   const once = withIdempotencyScope(
 *     `orders-${day}`,
 *     WorkItems.createMany({ process, payloads })
 *   )
 *   return Effect.retry(once, {
 *     while: (error) => error._tag === "PartlyCreated",
 *     times: 3
 *   })
 * }
 * ```
 */
export const createMany = Effect.fn("WorkItems.createMany")(
  function* (input: NewWorkItems) {
    const { payloads, process, references } = input
    const parts = partsOf(payloads, references)
    if (typeof parts === "string") return yield* refused("workItems.createMany", parts)
    const ids: Array<WorkItemId> = []
    for (const part of parts) {
      const created = call.createMany({
        payload: {
          process: processOf(process),
          payloads: part.payloads,
          ...orderOf(input),
          ...defined({ references: part.references })
        }
      })
      const { work_items } = yield* Effect.mapError(created, (error) => {
        const cause = atIndex(error, part.start)
        return ids.length === 0 ? cause : new PartlyCreated({ ids, total: payloads.length, cause })
      })
      ids.push(...work_items.map(({ id }) => id))
    }
    return ids
  },
  refusing("workItems.createMany", { 0: newWorkItems })
)

/** What a payload is replaced by, and when. */
export interface UpdateOptions {
  /** The payload that is replaced, of `getExact` if it may have numbers that JavaScript would round. */
  readonly previous?: Jsonable | undefined
}

const updateOptions = names<UpdateOptions>("option", { previous: 1 })

/**
 * Replaces the payload of an item that is `new`, `failed`, or `pending` without a step run. With `previous` it fails with `Conflict`
 * when the item has another payload by then, so that no change of somebody else is lost; an extension of the hosted service's
 * interface. On the command line: `signalbox items edit`; in tasks `setPayload` does it to their own item.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import type { WorkItemId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const wrap = Effect.fn(function* (item: WorkItemId) {
 *   const { payload } = yield* WorkItems.getExact(item)
 *   yield* WorkItems.updatePayload(item, [payload], { previous: payload })
 * })
 * ```
 */
export const updatePayload = Effect.fn("WorkItems.updatePayload")(
  function* (item: WorkItemId, payload: Jsonable, options: UpdateOptions = {}) {
    const of = "workItems.updatePayload"
    const { previous } = options
    return yield* call.updatePayload({
      params: { work_item_id: item },
      payload: {
        payload: yield* json(of, payload, "payload"),
        ...defined({ previous_payload: previous === undefined ? undefined : yield* json(of, previous, "previous") })
      }
    })
  },
  refusing("workItems.updatePayload", { 2: updateOptions })
)
