/**
 * Workers that wait for step runs. Work wakes one of those that take the same, and each of them wakes two further ones while something is
 * left: so a thousand idle workers look no more often than there is work for, and each of them finds out when only it can take what waits.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Takes } from "../store/runs/Lanes.ts"
import { WorkSignal } from "./WorkSignal.ts"

/** What a worker waits for. Others that wait for the same may still take more or less than it: by their groups, or while they are paused. */
export interface Wanted extends Takes {
  readonly workspace: WorkspaceId
  readonly labels: ReadonlyArray<string> | undefined
}

/** How a worker looks for work. */
export interface Look<A> {
  /** Takes what it can. */
  readonly take: Effect.Effect<ReadonlyArray<A>>
  /** Whether anything waits that workers of this kind could take, though maybe not this one. */
  readonly somethingWaits: Effect.Effect<boolean>
}

interface Waiter {
  readonly latch: Latch.Latch
  /** Whether it owes others a look since it was woken. */
  isWoken: boolean
}

/** The workers on this node that want the same. */
interface Kind {
  readonly name: string
  /** How often work was announced. */
  announced: number
  /** All that wait or look. */
  members: number
  /** In the order in which they began to wait. */
  readonly waiting: Set<Waiter>
}

const wake = ({ waiting }: Kind, count: number) => {
  let left = count
  for (const waiter of waiting) {
    if (left-- === 0) return
    waiting.delete(waiter)
    waiter.isWoken = true
    waiter.latch.openUnsafe()
  }
}

/** Until the scope closes. */
export const make = Effect.gen(function* () {
  const kinds = new Map<string, Kind>()
  const next = yield* (yield* WorkSignal).listen
  const announce = Effect.sync(() => {
    for (const kind of kinds.values()) {
      kind.announced++
      wake(kind, 1)
    }
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(next, announce)))

  /** One that leaves before it has looked, although it was woken, wakes another in its place. */
  const joined = ({ labels, packages, tasks, workspace }: Wanted) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const name = JSON.stringify([workspace, tasks, packages, labels])
        const kind = kinds.get(name) ?? { name, announced: 0, members: 0, waiting: new Set() }
        kinds.set(name, kind)
        kind.members++
        const waiter: Waiter = { latch: Latch.makeUnsafe(false), isWoken: false }
        return { kind, waiter }
      }),
      ({ kind, waiter }) =>
        Effect.sync(() => {
          kind.waiting.delete(waiter)
          if (waiter.isWoken) wake(kind, 1)
          if (--kind.members === 0) kinds.delete(kind.name)
        })
    )

  /** What a worker could take, as soon as there is something; nothing after so many milliseconds. */
  const lease = Effect.fnUntraced(function* <A>(wanted: Wanted, { somethingWaits, take }: Look<A>, millis: number) {
    const deadline = (yield* Clock.currentTimeMillis) + millis
    const { kind, waiter } = yield* joined(wanted)
    for (;;) {
      const { announced } = kind
      const taken = yield* take
      if (waiter.isWoken && (taken.length > 0 || (yield* somethingWaits))) wake(kind, 2)
      waiter.isWoken = false
      const left = deadline - (yield* Clock.currentTimeMillis)
      if (taken.length > 0 || left <= 0) return taken
      // What was announced during the look may have come too late for it.
      if (kind.announced !== announced) {
        waiter.isWoken = true
        continue
      }
      waiter.latch.closeUnsafe()
      kind.waiting.add(waiter)
      yield* Effect.timeoutOption(waiter.latch.await, left)
      kind.waiting.delete(waiter)
    }
  }, Effect.scoped)

  return { lease }
})
