/** Schedules: the list, one of them, and making or editing one. */
import type { ScheduleListed } from "@signalbox/api/contract/Schedules"
import { Empty, Head, Panel, State, Time } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { route, to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { timesInWords } from "./schedule/inWords.ts"
import { EditSchedule, NewSchedule } from "./schedule/Edit.tsx"
import { Schedule } from "./schedule/Schedule.tsx"
import { Filters, ProcessChoice } from "./work/Filter.tsx"
import * as text from "../text/text.ts"

const Schedules = () => {
  const { process } = route.value.query
  const canWrite = may("Schedules.write_schedules", "Processes.trigger_processes")
  return (
    <>
      <Head
        title={text.screens.schedules}
        actions={
          canWrite ? (
            <a class="button primary" href={to(["schedules", "new"], { process })}>
              {text.schedules.new}
            </a>
          ) : undefined
        }
      />
      <Filters>
        <ProcessChoice />
      </Filters>
      <Panel flush>
        <List<ScheduleListed>
          label={text.screens.schedules}
          path="schedules"
          query={{ process_id: process }}
          empty={
            <Empty title={text.schedules.none}>
              {canWrite ? (
                <a href={to(["schedules", "new"], { process })}>{text.schedules.new}</a>
              ) : (
                text.schedules.noneReadOnly
              )}
            </Empty>
          }
          columns={[
            {
              title: text.schedules.schedule,
              cell: ({ id, name }) => (
                <a href={to(["schedules", id])}>
                  <b>{name}</b>
                </a>
              )
            },
            {
              title: text.common.process,
              cell: ({ process }) => <a href={to(["processes", process.id])}>{process.name}</a>
            },
            { title: text.schedules.times, cell: timesInWords },
            {
              title: text.processes.nextRun,
              isNumber: true,
              cell: ({ next_at, paused }) =>
                paused !== null ? (
                  <span title={paused.note}>
                    <State state="paused" />
                  </span>
                ) : next_at === null ? (
                  <span class="quiet">{text.common.ended}</span>
                ) : (
                  <Time at={next_at} />
                )
            }
          ]}
        />
      </Panel>
    </>
  )
}

export default ({ path: [id, part] }: ScreenProps) =>
  id === undefined ? (
    <Schedules />
  ) : id === "new" ? (
    <NewSchedule />
  ) : part === "edit" ? (
    <EditSchedule key={id} id={id} />
  ) : (
    <Schedule key={id} id={id} />
  )
