/** The client of the worker interface, on which the worker agent is built. */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as HttpClient from "effect/http/HttpClient"
import type { ProcessRunId, StepRunId, WorkerId, WorkspaceId } from "../contract/Ids.ts"
import * as contract from "../internal/endpoints/WorkerProtocol.ts"
import type { StepRunEnvironment, StepRunErrorCode } from "../contract/StepRuns.ts"
import * as Connection from "../internal/calls/Connection.ts"
import { make as makeCall, makeExact as makeExactCall } from "../internal/calls/EndpointCall.ts"
import * as RoundedNumbers from "../internal/calls/RoundedNumbers.ts"
import { type Transport, transportTo } from "../internal/calls/Transport.ts"
import { defaultPolicy, RetryPolicy } from "../Policy.ts"
import { type SizedBytes, sendForm } from "../Upload.ts"

export type { Lease, SettledItem } from "../contract/WorkerProtocol.ts"
export type { RoundedPath } from "../internal/calls/RoundedNumbers.ts"
export type { StepRunEnvironment } from "../contract/StepRuns.ts"

/** A reserved item, with the paths of the numbers in its payload that JavaScript had to round. */
export interface ReservedItem extends contract.ReservedItem {
  readonly rounded?: ReadonlyArray<RoundedNumbers.RoundedPath>
}

/** An event of a worker, such as `SETUP`. `environment` says what `ENVIRONMENT` is about, `message` what any other is. */
export interface WorkerEvent {
  readonly timestamp: string
  readonly event_type: string
  readonly environment?: StepRunEnvironment
  /** At most 1,000 characters, without secrets. */
  readonly message?: string
}

/** The request of a step run: without a settled item, it returns the reserved one. */
export interface NextAsk {
  readonly lease: contract.Lease
  readonly settled: contract.SettledItem | null
  /** Whether it reserves a further item after it has settled one. */
  readonly reserve: boolean
  /** What it has done with items that it was given ahead; absent: it takes one item after the other. */
  readonly ahead?: contract.Ahead
}

/** What a step run is given. */
export interface NextItems {
  /** Its reserved item; null when it has none, or has said itself which one it has begun. */
  readonly item: ReservedItem | null
  /** Items that it may begin next, besides those that it has. */
  readonly ahead: ReadonlyArray<ReservedItem>
  /** Whether it may have some, and begin them without waiting for a response. */
  readonly mayBegin: boolean
  readonly error: { readonly code: string; readonly message: string } | null
}

const call = {
  link: makeCall(contract.link),
  lease: makeCall(contract.lease, { repeatable: true }),
  heartbeat: makeCall(contract.heartbeat, { repeatable: true }),
  start: makeCall(contract.start, { repeatable: true }),
  build: makeCall(contract.build, { repeatable: true }),
  nextItems: makeExactCall(contract.nextItems, { repeatable: true }),
  finish: makeCall(contract.finish, { repeatable: true }),
  sendConsole: makeCall(contract.sendConsole, { repeatable: true }),
  sendEvents: makeCall(contract.sendEvents, { repeatable: true }),
  createArtifact: makeCall(contract.createArtifact, { repeatable: true }),
  unlink: makeCall(contract.unlink)
}

const workerTransport = (client: HttpClient.HttpClient, origin: string, token: string | null): Transport =>
  transportTo(
    `${origin.replace(/\/+$/, "")}/worker-v1`,
    Connection.make(client, { idempotency: "ignored" }),
    token === null ? null : `Bearer ${token}`
  )

/** What identifies a linked worker; keep the token secret. */
export interface WorkerIdentity {
  readonly workerId: WorkerId
  readonly workspaceId: WorkspaceId
  readonly token: Redacted.Redacted
  readonly heartbeatSeconds: number
}

/** Exchanges a link token for an identity. `origin` is the address of the service without a path. */
export const link = Effect.fn("WorkerProtocol.link")(function* (options: {
  readonly origin: string
  readonly linkToken: Redacted.Redacted
  readonly name: string
  readonly tasks: ReadonlyArray<string>
  readonly labels?: ReadonlyArray<string> | undefined
}) {
  const client = yield* HttpClient.HttpClient
  const linked = yield* call.link(workerTransport(client, options.origin, null), {
    payload: {
      link_token: Redacted.value(options.linkToken),
      name: options.name,
      tasks: options.tasks,
      ...defined({ labels: options.labels })
    }
  })
  const identity: WorkerIdentity = {
    workerId: linked.worker_id,
    workspaceId: linked.workspace_id,
    token: Redacted.make(linked.worker_token),
    heartbeatSeconds: linked.heartbeat_seconds
  }
  return identity
})

/** The calls of a linked worker. */
export const make = Effect.fnUntraced(function* (origin: string, identity: WorkerIdentity) {
  const client = yield* HttpClient.HttpClient
  const transport = workerTransport(client, origin, Redacted.value(identity.token))
  return {
    /** Waits up to `waitSeconds` (at most 30) for work. */
    lease: (options: {
      readonly free: number
      readonly tasks: ReadonlyArray<string>
      /** Whether this worker also runs tasks of task packages; default false. */
      readonly packages?: boolean | undefined
      /** In place of those that it had; default: it keeps them. */
      readonly labels?: ReadonlyArray<string> | undefined
      readonly waitSeconds: number
    }) =>
      call
        .lease(transport, {
          payload: {
            free: options.free,
            tasks: options.tasks,
            wait_seconds: options.waitSeconds,
            ...defined({ packages: options.packages, labels: options.labels })
          }
        })
        .pipe(
          Effect.map((answer) => answer.leases),
          Effect.provideService(RetryPolicy, {
            ...defaultPolicy,
            attempts: 1,
            attemptTimeoutMillis: (options.waitSeconds + 15) * 1000
          })
        ),
    /** `starting`: the first of a worker that was started, which ends an earlier request to drain. */
    heartbeat: (stepRunIds: ReadonlyArray<StepRunId>, options: { readonly starting?: boolean | undefined } = {}) =>
      call.heartbeat(transport, {
        payload: { step_run_ids: stepRunIds, ...defined({ starting: options.starting === true ? true : undefined }) }
      }),
    start: (lease: contract.Lease) =>
      call.start(transport, {
        params: { step_run_id: lease.step_run_id },
        payload: { lease_token: lease.lease_token }
      }),
    /** Reports that the environment of a package is built, which is not part of the time that the step has. */
    build: (lease: contract.Lease, state: "started" | "ended") =>
      call.build(transport, {
        params: { step_run_id: lease.step_run_id },
        payload: { lease_token: lease.lease_token, state }
      }),
    finish: (lease: contract.Lease, error: { readonly code: StepRunErrorCode; readonly message: string } | null) =>
      call.finish(transport, {
        params: { step_run_id: lease.step_run_id },
        payload: { lease_token: lease.lease_token, error }
      })
  }
})

/** The calls with which tasks in the worker's process reserve and settle items. */
export const makeItems = Effect.fnUntraced(function* (origin: string, identity: WorkerIdentity) {
  const client = yield* HttpClient.HttpClient
  const transport = workerTransport(client, origin, Redacted.value(identity.token))
  return {
    /**
     * Settles items of up to 100 step runs of one run, and reserves the next ones; the results are in the order of the
     * requests, each with items or an error. Repeating it changes nothing.
     */
    nextItems: (run: ProcessRunId, asks: ReadonlyArray<NextAsk>) =>
      Effect.map(
        call.nextItems(transport, {
          params: { process_run_id: run },
          payload: {
            step_runs: asks.map(({ ahead, lease, reserve, settled }) => ({
              step_run_id: lease.step_run_id,
              lease_token: lease.lease_token,
              reserve,
              ...defined({ settled: settled ?? undefined, ahead })
            }))
          }
        }),
        ({ rounded, value }) => {
          const exact = (item: contract.ReservedItem, ...path: ReadonlyArray<string>): ReservedItem => ({
            ...item,
            rounded: RoundedNumbers.below(rounded, ["step_runs", ...path, "payload"])
          })
          return value.step_runs.map(({ begin_ahead = true, error, item, items_ahead = [] }, index): NextItems => ({
            item: item === null ? null : exact(item, String(index), "item"),
            ahead: items_ahead.map((one, at) => exact(one, String(index), "items_ahead", String(at))),
            mayBegin: begin_ahead,
            error
          }))
        }
      )
  }
})

/** The reports of a linked worker about its step runs besides start and end, and unlinking it. */
export const makeReports = Effect.fnUntraced(function* (origin: string, identity: WorkerIdentity) {
  const client = yield* HttpClient.HttpClient
  const transport = workerTransport(client, origin, Redacted.value(identity.token))
  return {
    /** `offset`: how many messages were sent before; repeated ones are stored once. */
    sendConsole: (
      lease: contract.Lease,
      offset: number,
      messages: ReadonlyArray<{ readonly timestamp: string; readonly message: string }>
    ) =>
      call.sendConsole(transport, {
        params: { step_run_id: lease.step_run_id },
        payload: { lease_token: lease.lease_token, offset, messages }
      }),
    /** `offset` as in `sendConsole`. */
    sendEvents: (lease: contract.Lease, offset: number, events: ReadonlyArray<WorkerEvent>) =>
      call.sendEvents(transport, {
        params: { step_run_id: lease.step_run_id },
        payload: { lease_token: lease.lease_token, offset, events }
      }),
    /** Uploads an artifact; its name is the path below the folder of artifacts. */
    uploadArtifact: Effect.fnUntraced(function* (lease: contract.Lease, source: SizedBytes) {
      const { upload } = yield* call.createArtifact(transport, {
        params: { step_run_id: lease.step_run_id },
        payload: { lease_token: lease.lease_token, name: source.name, size: source.size }
      })
      yield* sendForm(transport.connection, upload, source)
    }),
    /** Removes the worker from the workspace; its token is then refused. `Conflict` while it holds a lease. */
    unlink: Effect.asVoid(call.unlink(transport, {}))
  }
})
