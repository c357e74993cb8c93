/** Step runs of the worker's own tasks, which run in this process. */
import type { StepRunSession } from "@signalbox/api/robot/StepRunSession"
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { WorkerSource } from "../items/WorkerSource.ts"
import type { PayloadSchema, Task } from "../../Task.ts"
import { type Counts, runItems } from "./ItemRun.ts"
import type { Reports } from "../agent/Reports.ts"
import type { Execution } from "../agent/StepRun.ts"
import * as MaskedSession from "./MaskedSession.ts"
import { reported } from "./TaskOutput.ts"

/** `mayReserve` is false when the worker is ending: the reserved item is then the last. */
export const execution = <R>(options: {
  readonly lease: Lease
  readonly task: Task<PayloadSchema, PayloadSchema, R>
  readonly session: StepRunSession
  /** Of this step run; its first item is the one in the lease. */
  readonly items: WorkerSource
  readonly reports: Reports
  readonly mayReserve: Effect.Effect<boolean>
}): Execution<R> => {
  const { items, lease, mayReserve, reports, session, task } = options
  const counted = Ref.makeUnsafe<Counts | null>(null)
  return {
    work: runItems(
      reported(task, reports),
      { ...session, vault: MaskedSession.vault(session.vault, reports.mask) },
      MaskedSession.items(items, reports.mask),
      mayReserve,
      reports
    ).pipe(
      // The environment of the step takes precedence in what a task reads with Config.
      Effect.updateService(ConfigProvider.ConfigProvider, (provider) =>
        ConfigProvider.orElse(ConfigProvider.fromEnvRecord(lease.env), provider)
      ),
      Effect.tap((counts) => Ref.set(counted, counts)),
      Effect.as(null)
    ),
    collect: items.close,
    counts: Effect.map(Ref.get(counted), (counts) => ({ ...counts }))
  }
}
