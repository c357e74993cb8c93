/**
 * Any number of processes that are runners of a cluster: each claims due executions of its shards first, and the others claim them
 * only when it has not for a while. So a wake costs one claim for any number of runners, and executions of shards without an owner,
 * or whose owner lacks the version of the flow, wait no longer than that.
 *
 * Shards decide only where an execution runs: its writes are fenced by its claim, and a dead runner loses its claims with its lease.
 */
import * as EntityId from "effect/cluster/EntityId"
import { Sharding } from "effect/cluster/Sharding"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Journal } from "../journal/Journal.ts"
import { type Holder, Ownership } from "./Ownership.ts"
import { isIn, type Share, partitionCount } from "../model/Partitions.ts"
import * as Leases from "./Leases.ts"

const graceMillis = 1_000
/** `Sharding` does not notify changes of shards. */
const pollMillis = 1_000
/** Executions are released only when a shard has been lost for so many polls: during a rebalance shards may return. */
const settledPolls = 3
/** The shard group to which runners belong by default. */
const group = "default"

export const layer: Layer.Layer<Ownership, never, Journal | Sharding> = Layer.effect(
  Ownership,
  Effect.gen(function* () {
    const journal = yield* Journal
    const sharding = yield* Sharding
    const leases = yield* Leases.make
    const shards = Array.from({ length: partitionCount }, (_, partition) =>
      sharding.getShardId(EntityId.make(`signalbox flows ${partition}`), group)
    )
    const distinct = [...new Set(shards)]
    const read = (): Share => {
      const held = new Set(distinct.filter((shard) => sharding.hasShardId(shard)))
      return { partitions: shards.map((shard) => (held.has(shard) ? "1" : "0")).join(""), graceMillis }
    }
    let share = read()

    const follow = Effect.fnUntraced(function* ({ giveBack, wake }: Holder): Effect.fn.Return<never> {
      let settled = share
      let polls = 0
      for (;;) {
        yield* Effect.sleep(pollMillis)
        const next = read()
        if (next.partitions !== share.partitions) {
          share = next
          polls = 0
          wake()
        } else if (settled.partitions !== share.partitions && ++polls >= settledPolls) {
          const [before, now] = [settled, share]
          settled = share
          giveBack((id) => isIn(before, id) && !isIn(now, id))
        }
      }
    })

    return Ownership.of({
      ...leases,
      longestPauseMillis: graceMillis,
      isNear: (id) => isIn(share, id),
      claim: (flows, limit) =>
        Effect.flatMap(journal.now, (now) => journal.claim(leases.self(), flows, now, limit, share)),
      nextDue: (flows) => journal.nextDue(flows, share),
      keep: (holder) => Effect.raceFirst(leases.keep(holder), follow(holder))
    })
  })
)
