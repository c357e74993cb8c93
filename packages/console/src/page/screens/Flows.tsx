/** Durable flows: the list of executions, and one of them. */
import type { PageJson } from "@signalbox/flows/FlowManagement"
import { Empty, Head, Panel, Problem, Skeleton, State, Time } from "../kit/Basics.tsx"
import { Table } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { route, to, withQuery } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { sentence } from "../words.ts"
import { Execution } from "./flows/Execution.tsx"
import { type Listed, states } from "./flows/words.ts"
import { Choice, Filters, Search } from "./work/Filter.tsx"

const pageSize = 50

const NoExecutions = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No execution is like this">
      <a href={to(["flows"])}>Show all executions</a>
    </Empty>
  ) : (
    <Empty title="No executions yet">They begin when the program submits a flow, or by its schedule.</Empty>
  )

const Flows = () => {
  const { before, flow, key, state } = route.value.query
  const page = useResource<PageJson>("flow-executions", { before, flow, key, state, limit: pageSize })
  return (
    <>
      <Head title="Flows" />
      <Filters>
        <Choice
          label="State"
          name="state"
          all="All states"
          options={states.map((state) => ({ value: state, label: sentence(state) }))}
        />
        <Search label="Flow, by its name" name="flow" />
        <Search label="Key" name="key" />
      </Filters>
      <Problem message={page.error} />
      <Panel flush>
        {page.data === undefined ? (
          page.error === null ? (
            <Skeleton />
          ) : null
        ) : page.data.executions.length === 0 ? (
          <NoExecutions isFiltered={[before, flow, key, state].some((value) => value !== undefined)} />
        ) : (
          <Table<Listed>
            label="Executions"
            rows={page.data.executions}
            columns={[
              {
                title: "Execution",
                cell: ({ flow, id, key }) => (
                  <a class="name-link" href={to(["flows", id])}>
                    {flow} <span class="mono quiet">{key}</span>
                  </a>
                )
              },
              { title: "State", cell: ({ state }) => <State state={state} /> },
              { title: "Why", cell: ({ failure }) => failure?.message ?? "" },
              { title: "Version", isNumber: true, cell: ({ version }) => String(version) },
              { title: "Started", isNumber: true, cell: ({ started_at }) => <Time at={started_at} /> },
              { title: "Changed", isNumber: true, cell: ({ changed_at }) => <Time at={changed_at} /> }
            ]}
          />
        )}
      </Panel>
      {before === undefined && (page.data?.next ?? null) === null ? null : (
        <nav class="actions" aria-label="Pages">
          {before === undefined ? null : (
            <a class="button" href={withQuery({ before: undefined })}>
              Newest
            </a>
          )}
          {page.data === undefined || page.data.next === null ? null : (
            <a class="button" href={withQuery({ before: page.data.next })}>
              Older
            </a>
          )}
        </nav>
      )}
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Flows /> : <Execution key={id} id={id} />)
