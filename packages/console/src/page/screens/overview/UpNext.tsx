/** What starts next by a schedule. */
import type { ScheduleListed } from "@signalbox/api/contract/Schedules"
import type { Page } from "../../api.ts"
import { Empty, Panel, Problem, Time } from "../../kit/Basics.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import * as text from "../../text/text.ts"

export const UpNext = () => {
  const { data, error } = useResource<Page<ScheduleListed>>("schedules", { limit: 200 })
  const next = (data?.data ?? [])
    .flatMap((schedule) =>
      schedule.paused === null && schedule.next_at !== null ? [{ ...schedule, next: schedule.next_at }] : []
    )
    .toSorted((a, b) => a.next.localeCompare(b.next))
    .slice(0, 6)
  return (
    <Panel title={text.overview.upcoming}>
      <Problem message={error} />
      {data === undefined ? null : next.length === 0 ? (
        <Empty title={text.overview.noUpcoming}>
          {may("Schedules.write_schedules", "Processes.trigger_processes") ? (
            <a href={to(["schedules", "new"])}>{text.schedules.new}</a>
          ) : null}
        </Empty>
      ) : (
        <ol class="times">
          {next.map(({ id, name, next, process }) => (
            <li key={id}>
              <a href={to(["schedules", id])}>
                {process.name} <span class="quiet">{name.startsWith(process.name) ? "" : name}</span>
              </a>
              <span class="quiet">
                <Time at={next} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}
