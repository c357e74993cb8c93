/** Durable flows: the list of executions, and one of them. */
import type { PageJson } from "@signalbox/flows/FlowManagement"
import { Empty, Head, Panel, Problem, Skeleton, State, Time } from "../kit/Basics.tsx"
import { Table } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { route, to, withQuery } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { stateText } from "../kit/states.ts"
import { Execution } from "./flows/Execution.tsx"
import { Versions } from "./flows/Versions.tsx"
import { type Listed, states } from "./flows/executions.ts"
import { Choice, Filters, Search } from "./work/Filter.tsx"
import * as text from "../text/text.ts"

const pageSize = 50

const NoExecutions = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title={text.flows.noMatch}>
      <a href={to(["flows"])}>{text.flows.viewAll}</a>
    </Empty>
  ) : (
    <Empty title={text.flows.none}>{text.flows.noneHint}</Empty>
  )

const Flows = () => {
  const { before, flow, key, state } = route.value.query
  const page = useResource<PageJson>("flow-executions", { before, flow, key, state, limit: pageSize })
  return (
    <>
      <Head title={text.screens.flows} />
      <Filters>
        <Choice
          label={text.common.state}
          name="state"
          all={text.common.allStates}
          options={states.map((state) => ({ value: state, label: stateText(state) }))}
        />
        <Search label={text.flows.flowName} name="flow" />
        <Search label={text.flows.key} name="key" />
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
            label={text.flows.executions}
            rows={page.data.executions}
            columns={[
              {
                title: text.flows.execution,
                cell: ({ flow, id, key }) => (
                  <a class="name-link" href={to(["flows", id])}>
                    {flow} <span class="mono quiet">{key}</span>
                  </a>
                )
              },
              { title: text.common.state, cell: ({ state }) => <State state={state} /> },
              { title: text.common.error, cell: ({ failure }) => failure?.message ?? "" },
              { title: text.common.version, isNumber: true, cell: ({ version }) => String(version) },
              { title: text.common.started, isNumber: true, cell: ({ started_at }) => <Time at={started_at} /> },
              { title: text.common.updated, isNumber: true, cell: ({ changed_at }) => <Time at={changed_at} /> }
            ]}
          />
        )}
      </Panel>
      {before === undefined && (page.data?.next ?? null) === null ? null : (
        <nav class="actions" aria-label={text.flows.pages}>
          {before === undefined ? null : (
            <a class="button" href={withQuery({ before: undefined })}>
              {text.flows.newest}
            </a>
          )}
          {page.data === undefined || page.data.next === null ? null : (
            <a class="button" href={withQuery({ before: page.data.next })}>
              {text.flows.older}
            </a>
          )}
        </nav>
      )}
      <Versions flow={flow} />
    </>
  )
}

export default ({ path: [id] }: ScreenProps) => (id === undefined ? <Flows /> : <Execution key={id} id={id} />)
