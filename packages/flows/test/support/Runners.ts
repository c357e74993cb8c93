/**
 * Runners of a cluster within one process, each each with its own `Sharding`, that find each other without a network.
 */
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as MachineId from "effect/cluster/MachineId"
import type { Runner } from "effect/cluster/Runner"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/** Who is a runner, and which of them has locked which shard. */
const makeStorage = () => {
  const runners = new Map<string, readonly [runner: Runner, healthy: boolean]>()
  const locks = new Map<string, string>()
  const name = ({ host, port }: RunnerAddress.RunnerAddress) => `${host}:${port}`
  return RunnerStorage.of({
    getRunners: Effect.sync(() => [...runners.values()]),
    register: (runner, isHealthy) =>
      Effect.sync(() => {
        runners.set(name(runner.address), [runner, isHealthy])
        return MachineId.make(runners.size)
      }),
    unregister: (address) => Effect.sync(() => void runners.delete(name(address))),
    setRunnerHealth: () => Effect.void,
    acquire: (address, shards) =>
      Effect.sync(() =>
        [...shards].filter((shard) => {
          const holder = locks.get(`${shard}`) ?? name(address)
          locks.set(`${shard}`, holder)
          return holder === name(address)
        })
      ),
    refresh: (address, shards) =>
      Effect.sync(() => [...shards].filter((shard) => locks.get(`${shard}`) === name(address))),
    release: (_address, shard) => Effect.sync(() => void locks.delete(`${shard}`)),
    releaseAll: (address) =>
      Effect.sync(() => {
        for (const [shard, holder] of locks) if (holder === name(address)) locks.delete(shard)
      })
  })
}

/** A cluster; each build of `runner` joins it, and leaves it with its scope. `null`: as a client, which has no shards. */
export const makeCluster = () => {
  const storage = Layer.succeed(RunnerStorage, makeStorage())
  return (port: number | null) =>
    Layer.fresh(
      Sharding.layer.pipe(
        Layer.provide(Runners.layerNoop),
        Layer.provide([MessageStorage.layerNoop, RunnerHealth.layerNoop, storage]),
        Layer.provide(
          ShardingConfig.layer({
            runnerAddress: port === null ? Option.none() : Option.some(RunnerAddress.make("localhost", port))
          })
        )
      )
    )
}
