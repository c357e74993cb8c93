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

const Triggers = () => {
  const { process } = route.value.query
  const canWrite = may("Triggers.write_triggers", "Processes.trigger_processes")
  return (
    <>
      <Head
        title="Triggers"
        actions={
          canWrite ? (
            <a class="button primary" href={to(["triggers", "new"], { process })}>
              Make a trigger
            </a>
          ) : undefined
        }
      />
      <Filters>
        <ProcessChoice />
      </Filters>
      <Panel flush>
        <List<TriggerListed>
          label="Triggers"
          path="triggers"
          query={{ process_id: process }}
          empty={
            <Empty title="No triggers yet">
              {canWrite ? (
                <a href={to(["triggers", "new"], { process })}>
                  Start a run when items wait, or let another system send items to an address
                </a>
              ) : (
                "A trigger starts runs when items wait, or takes items from another system."
              )}
            </Empty>
          }
          columns={[
            {
              title: "Trigger",
              cell: ({ id, name }) => (
                <a href={to(["triggers", id])}>
                  <b>{name}</b>
                </a>
              )
            },
            { title: "Of", cell: ({ process }) => <a href={to(["processes", process.id])}>{process.name}</a> },
            {
              title: "What it does",
              cell: (trigger) => (
                <>
                  {startInWords(trigger)}
                  {trigger.problem === null ? null : <div class="wrong">{trigger.problem.message}</div>}
                </>
              )
            },
            {
              title: "State",
              isNumber: true,
              cell: ({ enabled, problem }) =>
                problem !== null ? (
                  <State state="failed">cannot start</State>
                ) : enabled ? (
                  <State state="done">on</State>
                ) : (
                  <State state="off">
                    <span class="quiet">off</span>
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
