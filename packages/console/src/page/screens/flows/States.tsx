/** What an execution says of itself: its states, and the last items of its feeds. */
import type { ItemJson, StatesJson } from "@signalbox/flows/FlowManagement"
import { Panel, Time } from "../../kit/Basics.tsx"
import { Table } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import * as text from "../../text/text.ts"

/** How many items of a feed are shown. */
const shownItems = 20
/** The longest value in a row. */
const longestValue = 500

export const Value = ({ value }: Pick<ItemJson, "value">) => {
  const json = typeof value === "string" ? value : JSON.stringify(value)
  return <span class="mono">{json.length > longestValue ? `${json.slice(0, longestValue)}…` : json}</span>
}

const when = { title: text.flows.since, isNumber: true, cell: ({ at }: ItemJson) => <Time at={at} /> }
const valued = { title: text.flows.value, cell: ({ value }: ItemJson) => <Value value={value} /> }

const rowsOf = (items: ReadonlyArray<ItemJson>) => items.map((item) => ({ ...item, id: String(item.cursor) }))

const Feed = ({ execution, name }: { readonly execution: string; readonly name: string }) => {
  const path = `flow-executions/${encodeURIComponent(execution)}/feeds/${encodeURIComponent(name)}`
  const { data } = useResource<{ readonly items: ReadonlyArray<ItemJson> }>(path, { limit: shownItems })
  const title = text.flows.feed(name)
  return data === undefined ? null : (
    <Panel title={title} flush>
      <Table label={title} rows={rowsOf(data.items.toReversed())} columns={[valued, when]} />
    </Panel>
  )
}

/** Nothing, of an execution that says nothing, and of a program of an earlier version. */
export const States = ({ id }: { readonly id: string }) => {
  const { data } = useResource<StatesJson>(`flow-executions/${encodeURIComponent(id)}/states`)
  if (data === undefined) return null
  const { feeds, states } = data
  return (
    <>
      {states.length === 0 ? null : (
        <Panel title={text.flows.states} flush>
          <Table
            label={text.flows.states}
            rows={rowsOf(states)}
            columns={[{ title: text.common.name, cell: ({ name }) => <span class="mono">{name}</span> }, valued, when]}
          />
        </Panel>
      )}
      {feeds.map((name) => (
        <Feed key={name} execution={id} name={name} />
      ))}
    </>
  )
}
