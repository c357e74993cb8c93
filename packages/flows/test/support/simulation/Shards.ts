/**
 * What the processes of a simulation believe of a cluster: while there are faults, each believes what it likes, so that a
 * shard has no process, or several; in the calm each shard has one.
 */
import * as ShardId from "effect/cluster/ShardId"
import { Sharding } from "effect/cluster/Sharding"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Driver } from "./Driver.ts"
import type { Seeded } from "./Seeded.ts"

const shardCount = 8
/** Beliefs change this often. */
const changeMillis = 4_000

const unused = () => Effect.die(new Error("no messages are sent in a simulation"))

export const make = (driver: Driver, seeded: Seeded) => {
  const salt = seeded.int(0, 1_000_000)
  let isCalm = false
  const ofNumber = (n: number) => ((n + salt) * 2_654_435_761) >>> 16
  return {
    calm: () => {
      isCalm = true
    },
    /** As the process in this place believes, of so many. */
    of: (placeNow: () => number, places: number) => {
      const has = ({ id }: ShardId.ShardId): boolean => {
        const place = placeNow()
        if (isCalm) return id % places === place
        const age = Math.floor(driver.now() / changeMillis)
        return ofNumber(age * 1_000 + id * 10 + place) % (places + 1) === 0
      }
      return Sharding.of({
        getShardId: (entity, group) => {
          const hash = [...entity].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) >>> 0, 7)
          return ShardId.make(group, hash % shardCount)
        },
        hasShardId: has,
        getRegistrationEvents: Stream.never,
        getSnowflake: unused(),
        isShutdown: Effect.succeed(false),
        makeClient: unused,
        registerEntity: unused,
        registerSingleton: unused,
        send: unused,
        sendOutgoing: unused,
        notify: unused,
        reset: unused,
        pollStorage: Effect.void,
        activeEntityCount: Effect.succeed(0)
      })
    }
  }
}
