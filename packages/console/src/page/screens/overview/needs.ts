/** What needs a person now, as sentences; the worst first. */
import type { AlertFiring } from "@signalbox/api/contract/Alerts"
import type { Failure } from "@signalbox/api/contract/Failures"
import type { Process, ProcessSummary } from "@signalbox/api/contract/Processes"
import type { ProcessRun } from "@signalbox/api/contract/ProcessRuns"
import type { Room, RoomNode } from "@signalbox/api/contract/Room"
import type { ScheduleListed } from "@signalbox/api/contract/Schedules"
import type { TriggerListed } from "@signalbox/api/contract/Triggers"
import type { Worker } from "@signalbox/api/contract/Workers"
import type { WorkItemListed } from "@signalbox/api/contract/WorkItems"
import type { Page } from "../../api.ts"
import { useResource } from "../../load.ts"
import { now } from "../../kit/clock.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import * as text from "../../text/text.ts"

export interface Need {
  readonly id: string
  readonly lamp: "failed" | "late"
  readonly title: string
  readonly detail: string
  /** Since when. */
  readonly since: string | null
  readonly href: string
  /** What the link says. */
  readonly look: string
  /** A group of failures can be retried from here. */
  readonly failure?: Failure
  /** What a POST to this path resumes. */
  readonly resume?: string | undefined
}

const permitted = (permission: string, path: string) => (may(permission) ? path : null)

const ofFailures = (failures: ReadonlyArray<Failure>): ReadonlyArray<Need> =>
  failures
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .map((failure) => ({
      id: failure.id,
      lamp: "failed",
      title: text.overview.failedItems(failure.count, failure.message || failure.code),
      detail: `${failure.process.name}, ${failure.step?.name ?? text.common.deletedStep} · ${failure.type}`,
      since: failure.first_failed_at,
      href: to(["failures", failure.id]),
      look: text.common.view,
      failure
    }))

/** A process, or one of its steps, that its failures have paused. */
const ofPauses = (
  processes: ReadonlyArray<ProcessSummary>,
  withSteps: ReadonlyArray<Process | undefined>
): ReadonlyArray<Need> => [
  ...processes
    .filter(({ paused }) => paused?.by.type === "failures")
    .map(({ id, name, paused }): Need => ({
      id: `paused ${id}`,
      lamp: "late",
      title: text.overview.pausedByFailures(name),
      detail: paused?.note ?? text.overview.processWaits,
      since: paused?.since ?? null,
      href: to(["processes", id]),
      look: text.common.view,
      resume: `processes/${id}`
    })),
  ...withSteps.flatMap((process) =>
    (process?.steps ?? [])
      .filter(({ paused }) => paused?.by.type === "failures")
      .map((step): Need => ({
        id: `paused ${step.id}`,
        lamp: "late",
        title: text.overview.stepPausedByFailures(process?.name ?? "", step.name),
        detail: step.paused?.note ?? text.overview.stepWaits,
        since: step.paused?.since ?? null,
        href: to(["processes", process?.id ?? ""]),
        look: text.common.view,
        resume: `processes/${process?.id ?? ""}/steps/${step.id}`
      }))
  )
]

const ofLate = ({ data, has_more }: Page<WorkItemListed>): ReadonlyArray<Need> =>
  data.length === 0
    ? []
    : [
        {
          id: "late",
          lamp: "late",
          title: text.overview.late(data.length, has_more),
          detail: text.overview.lateHint,
          since: null,
          href: to(["items"], { due: "late" }),
          look: text.common.view
        }
      ]

/** How long a run waits before somebody should look, in milliseconds. */
const patience = 30_000

const ofWorkers = (
  workers: ReadonlyArray<Worker> | undefined,
  waiting: ReadonlyArray<ProcessRun>,
  pausedProcesses: ReadonlySet<string>
): ReadonlyArray<Need> => {
  if (workers === undefined) return []
  if (workers.every(({ state }) => state === "offline")) {
    return [
      {
        id: "workers",
        lamp: "late",
        title: workers.length === 0 ? text.overview.noWorkerLinked : text.overview.noWorkerOnline,
        detail: text.overview.noWorkerHint,
        since: null,
        href: to(["workers"]),
        look: workers.length === 0 ? text.workers.link : text.common.view
      }
    ]
  }
  return waiting
    .filter(
      ({ created_at, process }) => now.value - Date.parse(created_at) > patience && !pausedProcesses.has(process.id)
    )
    .slice(0, 3)
    .map(({ created_at, id, process }) => ({
      id: `waits ${id}`,
      lamp: "late",
      title: text.overview.noMatch(process.name),
      detail: text.overview.noMatchHint,
      since: created_at,
      href: to(["runs", id], { tab: "events" }),
      look: text.common.view
    }))
}

/** Nodes that give no sign of life, and different versions beside each other, as in an update that was left half done. */
const ofNodes = (nodes: ReadonlyArray<RoomNode>): ReadonlyArray<Need> => {
  const offline = nodes.filter(({ state }) => state === "offline")
  const versions = new Set(nodes.map(({ version }) => version))
  const need = { id: "nodes", lamp: "late", href: to(["workers", "nodes"]), look: text.common.view } as const
  if (offline.length > 0) {
    const title = text.overview.offlineNodes(offline.length, offline.map(({ name }) => name).join(", "))
    const since = offline.map(({ last_seen_at }) => last_seen_at).toSorted()[0] ?? null
    return [{ ...need, title, detail: text.overview.offlineNodesHint, since }]
  }
  if (versions.size < 2) return []
  return [{ ...need, title: text.overview.nodeVersions, detail: [...versions].toSorted().join(", "), since: null }]
}

/** A minute after its time a schedule should have come. */
const ofSchedules = (schedules: ReadonlyArray<ScheduleListed>): ReadonlyArray<Need> =>
  schedules
    .filter(({ next_at, paused }) => paused === null && next_at !== null && now.value - Date.parse(next_at) > 60_000)
    .map(({ id, name, next_at, process }) => ({
      id: `missed ${id}`,
      lamp: "late",
      title: text.overview.missed(name),
      detail: text.overview.missedHint(process.name),
      since: next_at,
      href: to(["schedules", id]),
      look: text.common.view
    }))

const ofTriggers = (triggers: ReadonlyArray<TriggerListed>): ReadonlyArray<Need> =>
  triggers.flatMap(({ id, name, problem }) =>
    problem === null
      ? []
      : [
          {
            id: `trigger ${id}`,
            lamp: "failed" as const,
            title: text.overview.triggerFails(name),
            detail: problem.message,
            since: problem.since,
            href: to(["triggers", id]),
            look: text.common.view
          }
        ]
  )

const ofAlerts = (firings: ReadonlyArray<AlertFiring>): ReadonlyArray<Need> =>
  firings.map(({ alert, began_at, id, message }) => ({
    id: `alert ${id}`,
    lamp: "late",
    title: message,
    detail: text.overview.alert(alert.name),
    since: began_at,
    href: to(["alerts", alert.id]),
    look: text.common.view
  }))

/** Processes whose steps are looked at: those of the largest groups of failures, for those pause steps. */
const looked = [0, 1, 2, 3, 4] as const

export const useNeeds = () => {
  const failures = useResource<Page<Failure>>(permitted("Failures.read_failures", "failures"), {
    state: "open",
    limit: 200
  })
  const processes = useResource<Page<ProcessSummary>>(permitted("Processes.read_processes", "processes"), {
    limit: 200
  })
  const failed = ofFailures(failures.data?.data ?? [])
  const ids = [...new Set(failed.map(({ failure }) => failure?.process.id))]
  const withSteps = looked.map((n) => {
    const id = ids[n]
    // One call for each entry of a list that does not change.
    return useResource<Process>(id === undefined ? null : permitted("Processes.read_processes", `processes/${id}`)).data
  })
  const late = useResource<Page<WorkItemListed>>(permitted("Processes.read_work_items", "work-items"), {
    due_state: "late",
    limit: 100
  })
  const workers = useResource<Page<Worker>>(permitted("Workers.read_workers", "workers"), { limit: 200 })
  const waiting = useResource<Page<ProcessRun>>(permitted("Processes.read_runs", "process-runs"), {
    state: "new",
    limit: 20
  })
  const schedules = useResource<Page<ScheduleListed>>(permitted("Schedules.read_schedules", "schedules"), {
    limit: 200
  })
  const triggers = useResource<Page<TriggerListed>>(permitted("Triggers.read_triggers", "triggers"), { limit: 200 })
  const firings = useResource<Page<AlertFiring>>(permitted("Alerts.read_alerts", "alert-firings"), {
    state: "firing",
    limit: 20
  })
  const room = useResource<Room>("room")
  const paused = new Set((processes.data?.data ?? []).flatMap(({ id, paused }) => (paused === null ? [] : [id])))
  const restored: ReadonlyArray<Need> =
    room.data?.paused === true
      ? [
          {
            id: "room",
            lamp: "late",
            title: text.overview.restored,
            detail: text.overview.restoredHint,
            since: null,
            href: to(["workers"]),
            look: text.common.view,
            resume: may("Room.manage") ? "room" : undefined
          }
        ]
      : []
  const all = [failures, processes, late, workers, waiting, schedules, triggers, firings, room]
  return {
    isLoading: room.data === undefined,
    error: all.find(({ error }) => error !== null)?.error ?? null,
    needs: [
      ...restored,
      ...failed,
      ...ofPauses(processes.data?.data ?? [], withSteps),
      ...(late.data === undefined ? [] : ofLate(late.data)),
      ...ofWorkers(workers.data?.data, waiting.data?.data ?? [], paused),
      ...ofNodes(room.data?.nodes ?? []),
      ...ofSchedules(schedules.data?.data ?? []),
      ...ofTriggers(triggers.data?.data ?? []),
      ...ofAlerts(firings.data?.data ?? [])
    ],
    reload: () => {
      for (const { reload } of all) reload()
    }
  }
}
