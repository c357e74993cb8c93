/** The interface of workers: link, lease, report. */
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import type { StepRunId, WorkerId } from "@signalbox/api/contract/Ids"
import type { Lease, nextItems as nextEndpoint } from "@signalbox/api/contract/WorkerProtocol"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import { checkPayload } from "../edge/PayloadSize.ts"
import { limits } from "../settings/Limits.ts"
import { type Answer, type Given, NextItems } from "../runs/NextItems.ts"
import type { Ask } from "../runs/Reports.ts"
import * as Tokens from "../vault/Tokens.ts"
import { Refused } from "../engine/Refused.ts"
import * as LeaseHolder from "../runs/LeaseHolder.ts"
import { Runs } from "../runs/Runs.ts"
import type { Leased } from "../store/runs/Leases.ts"
import { Changes } from "../store/room/Changes.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import type { StoredStepRun } from "../store/runs/StoredStepRun.ts"
import { PackageVersions } from "../store/packages/PackageVersions.ts"
import { Turns } from "../store/runs/Turns.ts"
import { WorkerReports } from "../store/runs/WorkerReports.ts"
import { Workers } from "../store/workers/Workers.ts"
import * as IdleWorkers from "../runs/IdleWorkers.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { refusals, conflict, forbidden, invalidRequest, notFound, orNotFound, tooLarge } from "../edge/Failures.ts"
import { FileLinks } from "../transfers/FileLinks.ts"
import { exceptionOf } from "./Robot.ts"
import { locate } from "./TaskPackages.ts"
import { holdsLease } from "./Workers.ts"

type NextPayload = HttpApiEndpoint.Payload<typeof nextEndpoint>["Type"]

/** How often a worker must send a heartbeat. */
const heartbeatSeconds = 3

/** A time in the form in which all times are stored. */
const timeOf = (text: string) => new Date(text).toISOString()

const ownWorker = Effect.gen(function* () {
  const principal = yield* CurrentPrincipal
  return principal._tag === "Worker"
    ? { id: principal.workerId, workspaceId: principal.workspaceId }
    : // The contract admits only a worker's token here, never a run's.
      yield* Effect.die(forbidden("the token of a worker is required"))
})

/** The request of a step run, as `nextWorkItems` takes it. */
const askOf = ({ ahead, lease_token, reserve, settled, step_run_id }: NextPayload["step_runs"][number]): Ask => ({
  stepRun: step_run_id,
  leaseToken: lease_token,
  settled: [...(settled === undefined ? [] : [settled]), ...(ahead?.also_settled ?? [])].map((one) => ({
    item: one.work_item_id,
    attempt: one.attempt,
    exception: exceptionOf(one),
    outputs: one.outputs ?? [],
    dropOutputs: one.drop_outputs === true
  })),
  reserve: reserve !== false,
  ahead:
    ahead === undefined
      ? null
      : {
          begun: ahead.begun === undefined ? null : { item: ahead.begun.work_item_id, attempt: ahead.begun.attempt },
          notBegun: ahead.not_begun,
          wanted: ahead.wanted
        }
})

/** The refusal of a step run with an output that is too large for a work item. */
const outputTooLarge = ({ settled }: Ask) =>
  Effect.forEach(
    settled.flatMap(({ outputs }, at) => {
      const path = at === 0 ? "settled" : `ahead.also_settled.${at - 1}`
      return outputs.map((payload, index) => [payload, `${path}.outputs.${index}`] as const)
    }),
    ([payload, path]) => checkPayload(payload, path),
    { discard: true }
  ).pipe(
    Effect.as(null),
    Effect.catch(({ message }) => Effect.succeed(new Refused({ code: "PAYLOAD_TOO_LARGE", message })))
  )

const itemView = ({ attempt, files, id, payload }: Given) => ({
  work_item_id: id,
  attempt,
  payload,
  files: files.map(({ id, name, size }) => ({ id, name, size }))
})

const answerOf = (stepRun: StepRunId, answer: Answer | Refused) => {
  if (answer instanceof Refused) {
    return { step_run_id: stepRun, item: null, error: { code: answer.code, message: answer.message } }
  }
  const { ahead, item, mayBegin } = answer
  return {
    step_run_id: stepRun,
    item: item === null ? null : itemView(item),
    ...defined({
      items_ahead: ahead.length === 0 ? undefined : ahead.map(itemView),
      begin_ahead: mayBegin ? undefined : false
    }),
    error: null
  }
}

export const layer = Endpoints.group(
  "workerProtocol",
  Effect.fnUntraced(function* (handlers) {
    const workers = yield* Workers
    const changes = yield* Changes
    const stepRuns = yield* StepRuns
    const runs = yield* Runs
    const nextItems = yield* NextItems
    const turns = yield* Turns
    const idle = yield* IdleWorkers.make
    const reports = yield* WorkerReports
    const versions = yield* PackageVersions
    const links = yield* FileLinks

    const packageOf = Effect.fnUntraced(function* ({ packageId, packageVersion, workspaceId }: StoredStepRun) {
      if (packageId === null || packageVersion === null) return null
      const found = yield* versions.get(workspaceId, packageId, packageVersion)
      return found === null ? null : yield* locate(links, workspaceId, found.content)
    })

    const view = Effect.fnUntraced(function* ({
      environment,
      leaseToken,
      runToken,
      stepRun,
      trace
    }: Leased): Effect.fn.Return<Lease> {
      return {
        step_run_id: stepRun.id,
        process_id: stepRun.processId,
        process_run_id: stepRun.processRunId,
        lease_token: leaseToken,
        run_token: runToken,
        task: { name: stepRun.taskName },
        step_id: stepRun.stepId,
        package: yield* packageOf(stepRun),
        work_item_id: stepRun.firstItem,
        timeout_seconds: stepRun.timeoutSeconds,
        env: stepRun.env,
        environment: environment ?? null,
        ...defined({ traceparent: trace ?? undefined })
      }
    })

    /** The step run of the URL, if this worker leased it with this token. */
    const leased = Effect.fnUntraced(function* (worker: WorkerId, id: string, leaseToken: string) {
      const stepRun = yield* orNotFound("step run", id, stepRuns.find(id))
      const refused = LeaseHolder.refusalOf(stepRun, worker, leaseToken)
      return refused === null ? stepRun : yield* refusals("LEASE_LOST")(refused)
    })

    return handlers.handleAll({
      linkWorker: Effect.fnUntraced(function* ({ payload }) {
        const token = Tokens.parse(payload.link_token)
        const linked =
          token?.kind === "link" ? yield* workers.link(token, payload.name, payload.tasks, payload.labels ?? []) : null
        if (linked === null) {
          return yield* forbidden("link_token: unknown, used or expired; create a new one")
        }
        yield* changes.tell(linked.worker.workspaceId, () => [{ topic: "workers", id: linked.worker.id }])
        return {
          worker_id: linked.worker.id,
          workspace_id: linked.worker.workspaceId,
          worker_token: linked.token,
          heartbeat_seconds: heartbeatSeconds
        }
      }),
      leaseStepRuns: Effect.fnUntraced(function* ({ payload }) {
        const worker = yield* ownWorker
        const packages = payload.packages === true
        yield* workers.seen(worker.id, { tasks: payload.tasks, packages, labels: payload.labels })
        const takes = { tasks: payload.tasks, packages }
        const found = yield* idle.lease(
          { ...takes, labels: payload.labels, workspace: worker.workspaceId },
          {
            take: runs.lease(worker, payload.tasks, packages, payload.free),
            somethingWaits: turns.somethingWaits(worker.workspaceId, takes)
          },
          payload.wait_seconds * 1000
        )
        return { leases: yield* Effect.forEach(found, view) }
      }),
      heartbeat: Effect.fnUntraced(function* ({ payload }) {
        const worker = yield* ownWorker
        if (payload.starting === true) yield* workers.setDraining(worker.id, false)
        const drain = yield* workers.seen(worker.id)
        return { ...(yield* runs.heard(worker.id, payload.step_run_ids)), drain }
      }),
      startStepRun: Effect.fnUntraced(function* ({ params, payload }) {
        const worker = yield* ownWorker
        const stepRun = yield* leased(worker.id, params.step_run_id, payload.lease_token)
        yield* refusals("CONFLICT", "LEASE_LOST")(runs.startStepRun(stepRun))
        return { accepted: true } as const
      }),
      reportStepRunBuild: Effect.fnUntraced(function* ({ params, payload }) {
        const worker = yield* ownWorker
        const stepRun = yield* leased(worker.id, params.step_run_id, payload.lease_token)
        yield* refusals("LEASE_LOST")(runs.build(stepRun, payload.state))
        return { accepted: true } as const
      }),
      nextWorkItems: Effect.fnUntraced(function* ({ params, payload }) {
        const worker = yield* ownWorker
        const named = new Set<string>()
        for (const [index, { step_run_id }] of payload.step_runs.entries()) {
          if (named.has(step_run_id)) {
            return yield* invalidRequest(`step_runs.${index}.step_run_id: a step run is listed twice; list each once`)
          }
          named.add(step_run_id)
        }
        const asks = payload.step_runs.map(askOf)
        const tooLarge = yield* Effect.forEach(asks, outputTooLarge)
        const fitting = asks.filter((_, index) => tooLarge[index] === null)
        const answered = yield* nextItems.next(worker, params.process_run_id, fitting)
        if (answered === null) return yield* notFound("process run", params.process_run_id)
        const answers = new Map(fitting.map(({ stepRun }, index) => [stepRun, answered[index]]))
        return {
          step_runs: yield* Effect.forEach(asks, (ask, index) => {
            const answer = tooLarge[index] ?? answers.get(ask.stepRun)
            return answer === undefined
              ? Effect.die(new Error("a request has no result"))
              : Effect.succeed(answerOf(ask.stepRun, answer))
          })
        }
      }),
      finishStepRun: Effect.fnUntraced(function* ({ params, payload }) {
        const worker = yield* ownWorker
        const stepRun = yield* leased(worker.id, params.step_run_id, payload.lease_token)
        yield* refusals("CONFLICT", "LEASE_LOST")(runs.finish(stepRun, payload.error))
        return { accepted: true } as const
      }),
      sendStepRunConsole: Effect.fnUntraced(function* ({ params, payload }) {
        const worker = yield* ownWorker
        const messages = payload.messages.map(({ message, timestamp }) => ({ message, timestamp: timeOf(timestamp) }))
        const stepRun = yield* leased(worker.id, params.step_run_id, payload.lease_token)
        yield* refusals("CONFLICT", "LEASE_LOST")(reports.addMessages(stepRun, payload.offset, messages))
        yield* changes.tell(stepRun.workspaceId, () => [{ topic: "logs", id: stepRun.id }])
        return { accepted: true } as const
      }),
      sendStepRunEvents: Effect.fnUntraced(function* ({ params, payload }) {
        const worker = yield* ownWorker
        const events = payload.events.map(({ environment = null, event_type: type, message = null, timestamp }) => ({
          type,
          timestamp: timeOf(timestamp),
          environment,
          message
        }))
        const stepRun = yield* leased(worker.id, params.step_run_id, payload.lease_token)
        yield* refusals("CONFLICT", "LEASE_LOST")(reports.addEvents(stepRun, payload.offset, events))
        yield* changes.tell(stepRun.workspaceId, () => [{ topic: "step_runs", id: stepRun.processRunId }])
        return { accepted: true } as const
      }),
      createStepRunArtifact: Effect.fnUntraced(function* ({ params, payload: { lease_token, name, size } }) {
        const worker = yield* ownWorker
        const { id, state, workspaceId } = yield* leased(worker.id, params.step_run_id, lease_token)
        if (state === "awaiting_worker") return yield* conflict("the step run has not started; start it first")
        if (state !== "in_progress") return yield* refusals("LEASE_LOST")(LeaseHolder.lost())
        if (size > limits.file) {
          return yield* tooLarge(`size: ${size} bytes exceed the ${limits.file} allowed`)
        }
        const owner = { workspace: workspaceId, id, stepRun: id, kind: "artifact" } as const
        return { upload: yield* links.uploadForm(owner, { file_name: name, file_size: size }) }
      }),
      unlinkWorker: Effect.fnUntraced(function* () {
        const worker = yield* ownWorker
        if (!(yield* workers.remove(worker.id))) return yield* conflict(holdsLease)
        yield* changes.tell(worker.workspaceId, () => [{ topic: "workers", id: worker.id }])
        return { id: worker.id, deleted: true } as const
      })
    })
  })
)
