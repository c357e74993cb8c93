/** Work items: the list, and one of them to look at, edit, retry or settle. */
import type { WorkItemListed } from "@signalbox/api/contract/WorkItems"
import { Empty, Head, Panel, State, Time } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { route, to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { short } from "../format.ts"
import { stateText } from "../kit/states.ts"
import { Item } from "./items/Item.tsx"
import { Due } from "./items/Due.tsx"
import { BulkActions } from "./items/BulkActions.tsx"
import { Choice, Filters, ProcessChoice, Search, StepChoice } from "./work/Filter.tsx"
import * as text from "../text/text.ts"

const states = ["failed", "new", "pending", "in_progress", "done"] as const
const dues = [
  { value: "late", label: text.items.late },
  { value: "at_risk", label: text.items.atRisk },
  { value: "on_time", label: text.items.onTime }
]

const Items = () => {
  const { due, process, reference, state, step, tag } = route.value.query
  const isFiltered = [due, process, reference, state, tag].some((value) => value !== undefined)
  return (
    <>
      <Head title={text.screens.items} />
      <Filters>
        <Choice
          label={text.common.state}
          name="state"
          all={text.common.allStates}
          options={states.map((state) => ({ value: state, label: stateText(state) }))}
        />
        <ProcessChoice />
        <StepChoice />
        <Choice label={text.items.due} name="due" all={text.items.anyDue} options={dues} />
        <Search label={text.items.tag} name="tag" />
        <Search label={text.items.reference} name="reference" />
      </Filters>
      <Panel flush>
        <List<WorkItemListed>
          label={text.screens.items}
          path="work-items"
          query={{ state, process_id: process, step_id: process && step, due_state: due, tag, reference }}
          bulk={
            state === "failed" && may("Processes.write_work_items")
              ? (chosen, done) => <BulkActions chosen={chosen} done={done} />
              : undefined
          }
          empty={
            isFiltered ? (
              <Empty title={text.items.noMatch}>
                <a href={to(["items"])}>{text.items.viewAll}</a>
              </Empty>
            ) : (
              <Empty title={text.items.none}>{text.items.noneHint}</Empty>
            )
          }
          columns={[
            {
              title: text.common.item,
              cell: ({ id, reference }) => (
                <a class={reference === null ? "mono" : ""} href={to(["items", id])}>
                  {reference ?? short(id)}
                </a>
              )
            },
            { title: text.common.state, cell: ({ state }) => <State state={state} /> },
            {
              title: text.common.error,
              cell: ({ exception, ...item }) => (
                <>
                  {exception === null ? "" : exception.message || exception.code} <Due item={item} />
                </>
              )
            },
            {
              title: text.common.tags,
              cell: ({ tags }) =>
                tags.map((tag) => (
                  <a key={tag} class="tag" href={to(["items"], { tag })}>
                    {tag}
                  </a>
                ))
            },
            {
              title: text.common.run,
              cell: ({ process_run }) =>
                process_run === null ? (
                  <span class="quiet">{text.items.waitsForRun}</span>
                ) : (
                  <a class="mono" href={to(["runs", process_run.id])}>
                    {short(process_run.id)}
                  </a>
                )
            },
            {
              title: text.common.updated,
              isNumber: true,
              cell: ({ created_at, state_updated_at }) => <Time at={state_updated_at ?? created_at} />
            }
          ]}
        />
      </Panel>
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Items /> : <Item key={id} id={id} />)
