/** Triggers: the list, one of them, and making or editing one. */
import type { TriggerListed } from "@signalbox/api/contract/Triggers"
import { Empty, Head, Panel, State } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { route, to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { EditTrigger, NewTrigger } from "./trigger/Edit.tsx"
import { startInWords } from "./trigger/inWords.ts"
import { Trigger } from "./trigger/Trigger.tsx"
import { Filters, ProcessChoice } from "./work/Filter.tsx"
import * as text from "../text/text.ts"

const Triggers = () => {
  const { process } = route.value.query
  const canWrite = may("Triggers.write_triggers", "Processes.trigger_processes")
  return (
    <>
      <Head
        title={text.screens.triggers}
        actions={
          canWrite ? (
            <a class="button primary" href={to(["triggers", "new"], { process })}>
              {text.triggers.new}
            </a>
          ) : undefined
        }
      />
      <Filters>
        <ProcessChoice />
      </Filters>
      <Panel flush>
        <List<TriggerListed>
          label={text.screens.triggers}
          path="triggers"
          query={{ process_id: process }}
          empty={
            <Empty title={text.triggers.none}>
              {canWrite ? (
                <a href={to(["triggers", "new"], { process })}>{text.triggers.new}</a>
              ) : (
                text.triggers.noneReadOnly
              )}
            </Empty>
          }
          columns={[
            {
              title: text.triggers.trigger,
              cell: ({ id, name }) => (
                <a href={to(["triggers", id])}>
                  <b>{name}</b>
                </a>
              )
            },
            {
              title: text.common.process,
              cell: ({ process }) => <a href={to(["processes", process.id])}>{process.name}</a>
            },
            {
              title: text.triggers.behavior,
              cell: (trigger) => (
                <>
                  {startInWords(trigger)}
                  {trigger.problem === null ? null : <div class="wrong">{trigger.problem.message}</div>}
                </>
              )
            },
            {
              title: text.common.state,
              isNumber: true,
              cell: ({ enabled, problem }) =>
                problem !== null ? (
                  <State state="failed">{text.triggers.failing}</State>
                ) : enabled ? (
                  <State state="done">{text.common.enabled}</State>
                ) : (
                  <State state="off">
                    <span class="quiet">{text.common.disabled}</span>
                  </State>
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
    <Triggers />
  ) : id === "new" ? (
    <NewTrigger />
  ) : part === "edit" ? (
    <EditTrigger key={id} id={id} />
  ) : (
    <Trigger key={id} id={id} />
  )
