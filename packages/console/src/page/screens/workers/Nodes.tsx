/** The nodes of the control room: the processes that serve it. */
import type { Room } from "@signalbox/api/contract/Room"
import { Panel, Problem, Skeleton, State, Time } from "../../kit/Basics.tsx"
import { Table } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import * as text from "../../text/text.ts"

export const Nodes = () => {
  const { data, error } = useResource<Room>("room")
  const versions = new Set((data?.nodes ?? []).map(({ version }) => version))
  return (
    <>
      <Problem message={error} />
      {versions.size > 1 ? <p class="notice late">{text.workers.severalVersions}</p> : null}
      <Panel flush>
        {data === undefined ? (
          <Skeleton rows={2} />
        ) : (
          <Table
            label={text.workers.nodes}
            rows={data.nodes}
            columns={[
              { title: text.workers.node, cell: ({ name }) => name },
              { title: text.common.version, cell: ({ version }) => <span class="mono">{version}</span> },
              { title: text.common.state, cell: ({ state }) => <State state={state} /> },
              {
                title: text.workers.lastSeen,
                isNumber: true,
                cell: ({ last_seen_at, state }) =>
                  state === "offline" ? <Time at={last_seen_at} /> : text.overview.now
              }
            ]}
          />
        )}
      </Panel>
      <p class="quiet">{text.workers.nodesHint}</p>
    </>
  )
}
