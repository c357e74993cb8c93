/**
 * What a step run has settled and not sent yet, and the items that it was given ahead. It works on with some of these
 * while its results are sent: each call takes what has ended during the one before.
 */
import { maxItemsAhead } from "@signalbox/api/contract/WorkerProtocol"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { Lease, NextAsk, ReservedItem, SettledItem } from "@signalbox/api/robot/WorkerProtocol"
import { defined } from "@signalbox/transport/Defined"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Answer, Next, Request } from "./Batching.ts"
import type { LeaseLost } from "../outcome/LeaseLost.ts"

/** The item in progress. One that was ahead begins before the service knows. */
interface Current {
  readonly item: ReservedItem
  readonly known: boolean
}

export interface Outbox {
  /**
   * Takes what has ended, and returns the next item if `more`; null when there is none. `characters`: those of its outputs;
   * default 0.
   */
  readonly advance: (
    settled: SettledItem | null,
    more: boolean,
    characters?: number
  ) => Effect.Effect<ReservedItem | null, CallError | LeaseLost>
  /** Waits until the service knows what has ended, and which item is in progress. */
  readonly sync: Effect.Effect<void, CallError | LeaseLost>
  /** Like `sync`, at the end of the step run: it takes no further item. */
  readonly close: Effect.Effect<void, CallError | LeaseLost>
  /** How many characters of outputs wait to be sent. */
  readonly size: () => number
}

export const make = (lease: Lease, next: Next): Outbox => {
  let unsent: Array<SettledItem> = []
  let size = 0
  let ahead: ReadonlyArray<ReservedItem> = []
  let current: Current | null = null
  /** The request that is under way, or has failed. */
  let sent: Deferred.Deferred<void, CallError | LeaseLost> | null = null
  let failed = false
  let mayBegin = true
  let reserve = true
  let begunAt = 0
  /** How long an item takes, in milliseconds; after a slow one it falls slowly. */
  let pace = 0
  let callTime = 0

  const inProgress = () => current
  const isUnsettled = () => sent !== null || unsent.length > 0
  const isUnknown = () => unsent.length > 0 || current?.known === false
  const canBegin = () => reserve && mayBegin && ahead.length > 0

  /** As many as end during two calls: slow ones are not kept from other workers. */
  const wanted = () => (pace === 0 ? maxItemsAhead : Math.min(maxItemsAhead, Math.floor((2 * callTime) / pace)))

  const ask = (): NextAsk => {
    const [settled = null, ...also_settled] = unsent
    const has = current
    unsent = []
    size = 0
    current = has === null ? null : { ...has, known: true }
    // As always in a step without a retry, which has none ahead.
    const isPlain = has === null && ahead.length === 0 && also_settled.length === 0
    if (isPlain && !mayBegin) return { lease, settled, reserve }
    const begun = has === null ? undefined : { work_item_id: has.item.work_item_id, attempt: has.item.attempt }
    const not_begun = ahead.map(({ work_item_id }) => work_item_id)
    return { lease, settled, reserve, ahead: { also_settled, not_begun, wanted: wanted(), ...defined({ begun }) } }
  }

  const receive = ({ ahead: given, item, mayBegin: may, milliseconds }: Answer) => {
    const left = item === null ? ahead : ahead.filter(({ work_item_id }) => work_item_id !== item.work_item_id)
    ahead = [...left, ...given]
    mayBegin = may
    callTime = milliseconds
    if (item !== null) current = { item, known: true }
  }

  const request: Request = {
    ask,
    answered: (exit) => {
      const answered = sent
      failed = Exit.isFailure(exit)
      if (Exit.isSuccess(exit)) receive(exit.value)
      else mayBegin = false
      // What has ended meanwhile does not wait for the item in progress, which may take an hour.
      const again = !failed && isUnknown()
      if (!failed) sent = again ? Deferred.makeUnsafe() : null
      if (answered !== null) Deferred.doneUnsafe(answered, Exit.asVoid(exit))
      return again
    }
  }

  const send = Effect.suspend(() => {
    if (sent !== null) return Effect.void
    sent = Deferred.makeUnsafe()
    return next(lease.process_run_id, request)
  })

  /** Waits for the response of the request that is under way, or of a new one. */
  const exchange = Effect.andThen(
    send,
    Effect.suspend(() => (sent === null ? Effect.void : Deferred.await(sent)))
  )

  const sync = Effect.whileLoop({
    while: () => sent !== null || isUnknown(),
    body: () => exchange,
    step: () => {}
  })

  /** Begins an item ahead; what has ended is sent meanwhile. */
  const begin = Effect.suspend(() => {
    const [item, ...others] = ahead
    if (item === undefined) return Effect.void
    ahead = others
    current = { item, known: false }
    return send
  })

  return {
    advance: Effect.fnUntraced(function* (settled, more, characters = 0) {
      reserve = more
      if (settled === null) yield* exchange
      else {
        unsent.push(settled)
        size += characters
        current = null
        pace = Math.max((yield* Clock.currentTimeMillis) - begunAt, pace / 2)
      }
      while (inProgress() === null && !canBegin() && isUnsettled()) yield* exchange
      if (inProgress() === null && canBegin()) yield* begin
      begunAt = yield* Clock.currentTimeMillis
      return inProgress()?.item ?? null
    }),
    sync,
    close: Effect.suspend(() => {
      reserve = false
      return failed ? Effect.void : sync
    }),
    size: () => size
  }
}
