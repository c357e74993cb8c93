/** Processes: the list, one of them, starting one, and making one. */
import type { ProcessSummary } from "@signalbox/api/contract/Processes"
import type { ProcessRun } from "@signalbox/api/contract/ProcessRuns"
import type { ScheduleListed } from "@signalbox/api/contract/Schedules"
import type { Page } from "../api.ts"
import { Empty, Head, Panel, State, Time } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { stateText } from "../kit/states.ts"
import { EditProcess, NewProcess } from "./process/Edit.tsx"
import { Process } from "./process/Process.tsx"
import { Start } from "./process/Start.tsx"
import * as text from "../text/text.ts"

/** The newest of the given runs of each process, and how many of them ended unresolved. */
const runsByProcess = (runs: ReadonlyArray<ProcessRun>) => {
  const all = new Map<string, { readonly last: ProcessRun; ended: number; unresolved: number }>()
  for (const run of runs) {
    const one = all.get(run.process.id) ?? { last: run, ended: 0, unresolved: 0 }
    if (run.ended_at !== null) one.ended += 1
    if (run.state === "unresolved") one.unresolved += 1
    all.set(run.process.id, one)
  }
  return all
}

/** The soonest time of each process. */
const nextByProcess = (schedules: ReadonlyArray<ScheduleListed>) => {
  const all = new Map<string, string>()
  for (const { next_at, paused, process } of schedules) {
    if (next_at === null || paused !== null) continue
    const before = all.get(process.id)
    if (before === undefined || next_at < before) all.set(process.id, next_at)
  }
  return all
}

const Processes = () => {
  const runs = useResource<Page<ProcessRun>>(may("Processes.read_runs") ? "process-runs" : null, { limit: 200 })
  const schedules = useResource<Page<ScheduleListed>>(may("Schedules.read_schedules") ? "schedules" : null, {
    limit: 200
  })
  const runsOf = runsByProcess(runs.data?.data ?? [])
  const nextOf = nextByProcess(schedules.data?.data ?? [])
  const canCreate = may("Processes.write_processes")
  return (
    <>
      <Head
        title={text.screens.processes}
        actions={
          canCreate ? (
            <a class="button primary" href={to(["processes", "new"])}>
              {text.processes.new}
            </a>
          ) : undefined
        }
      />
      <Panel flush>
        <List<ProcessSummary>
          label={text.screens.processes}
          path="processes"
          empty={
            <Empty title={text.processes.none}>
              {canCreate ? (
                <a href={to(["processes", "new"])}>{text.processes.createFromPackage}</a>
              ) : (
                text.processes.noneReadOnly
              )}
            </Empty>
          }
          columns={[
            {
              title: text.common.process,
              cell: ({ id, name, paused }) => (
                <>
                  <a href={to(["processes", id])}>
                    <b>{name}</b>
                  </a>{" "}
                  {paused === null ? null : <State state="paused" />}
                </>
              )
            },
            {
              title: text.processes.lastRun,
              cell: ({ id }) => {
                const last = runsOf.get(id)?.last
                return last === undefined ? (
                  <span class="quiet">{text.processes.noRecentRuns}</span>
                ) : (
                  <a href={to(["runs", last.id])}>
                    <State state={last.state}>{stateText(last.state)}</State>{" "}
                    <span class="quiet">
                      <Time at={last.started_at ?? last.created_at} />
                    </span>
                  </a>
                )
              }
            },
            {
              title: text.processes.unresolved,
              isNumber: true,
              cell: ({ id }) => {
                const of = runsOf.get(id)
                return of === undefined || of.ended === 0 ? (
                  ""
                ) : (
                  <span class={of.unresolved > 0 ? "wrong" : "quiet"}>
                    {text.processes.of(of.unresolved, of.ended)}
                  </span>
                )
              }
            },
            {
              title: text.processes.nextRun,
              isNumber: true,
              cell: ({ id }) => {
                const next = nextOf.get(id)
                return next === undefined ? (
                  <span class="quiet">{text.processes.notScheduled}</span>
                ) : (
                  <Time at={next} />
                )
              }
            },
            ...(may("Processes.trigger_processes")
              ? [
                  {
                    title: text.common.actions,
                    isNumber: true,
                    cell: ({ id, name }: ProcessSummary) => (
                      <a
                        class="button"
                        href={to(["processes", id, "start"])}
                        aria-label={text.processes.startRunOf(name)}
                      >
                        {text.processes.startMore}
                      </a>
                    )
                  }
                ]
              : [])
          ]}
        />
      </Panel>
    </>
  )
}

export default ({ path: [id, part] }: ScreenProps) =>
  id === undefined ? (
    <Processes />
  ) : id === "new" ? (
    <NewProcess />
  ) : part === "start" ? (
    <Start key={id} id={id} />
  ) : part === "edit" ? (
    <EditProcess key={id} id={id} />
  ) : (
    <Process key={id} id={id} />
  )
