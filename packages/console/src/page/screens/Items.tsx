/** Work items: the list, and one of them to look at, edit, retry or settle. */
import type { WorkItemListed } from "@signalbox/api/contract/WorkItems"
import { Empty, Head, Panel, State, Time } from "../kit/Basics.tsx"
import { List } from "../kit/List.tsx"
import { route, to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { sentence, short } from "../words.ts"
import { Item } from "./items/Item.tsx"
import { Due } from "./items/Order.tsx"
import { Settle } from "./items/Settle.tsx"
import { Choice, Filters, ProcessChoice, Search, StepChoice } from "./work/Filter.tsx"

const states = ["failed", "new", "pending", "in_progress", "done"] as const
const dues = [
  { value: "late", label: "late" },
  { value: "at_risk", label: "soon late" },
  { value: "on_time", label: "in time" }
]

const Items = () => {
  const { due, process, reference, state, step, tag } = route.value.query
  const isFiltered = [due, process, reference, state, tag].some((value) => value !== undefined)
  return (
    <>
      <Head title="Work items" />
      <Filters>
        <Choice
          label="State"
          name="state"
          all="All states"
          options={states.map((state) => ({ value: state, label: sentence(state) }))}
        />
        <ProcessChoice />
        <StepChoice />
        <Choice label="Due" name="due" all="Due or not" options={dues} />
        <Search label="Tag" name="tag" />
        <Search label="Reference" name="reference" />
      </Filters>
      <Panel flush>
        <List<WorkItemListed>
          label="Work items"
          path="work-items"
          query={{ state, process_id: process, step_id: process && step, due_state: due, tag, reference }}
          bulk={
            state === "failed" && may("Processes.write_work_items")
              ? (chosen, done) => <Settle chosen={chosen} done={done} />
              : undefined
          }
          empty={
            isFiltered ? (
              <Empty title="No item is like this">
                <a href={to(["items"])}>Show all items</a>
              </Empty>
            ) : (
              <Empty title="No work items yet">
                Each input of a run is an item, and so is what one step hands to the next.
              </Empty>
            )
          }
          columns={[
            {
              title: "Item",
              cell: ({ id, reference }) => (
                <a class={reference === null ? "mono" : ""} href={to(["items", id])}>
                  {reference ?? short(id)}
                </a>
              )
            },
            { title: "State", cell: ({ state }) => <State state={state} /> },
            {
              title: "Why",
              cell: ({ exception, ...item }) => (
                <>
                  {exception === null ? "" : exception.message || exception.code} <Due item={item} />
                </>
              )
            },
            {
              title: "Tags",
              cell: ({ tags }) =>
                tags.map((tag) => (
                  <a key={tag} class="tag" href={to(["items"], { tag })}>
                    {tag}
                  </a>
                ))
            },
            {
              title: "Run",
              cell: ({ process_run }) =>
                process_run === null ? (
                  <span class="quiet">waits for a run</span>
                ) : (
                  <a class="mono" href={to(["runs", process_run.id])}>
                    {short(process_run.id)}
                  </a>
                )
            },
            {
              title: "Changed",
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
