/** The versions of flows: which have executions that have not ended, and which processes run them. */
import type { VersionsJson } from "@signalbox/flows/FlowManagement"
import { Panel, Time } from "../../kit/Basics.tsx"
import { Table } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { stateText } from "../../kit/states.ts"
import * as text from "../../text/text.ts"

type Version = VersionsJson["versions"][number]
const stateNames = ["queued", "waiting", "running", "undoing", "halted", "suspended"] as const

const unendedOf = ({ executions }: Version) =>
  stateNames
    .filter((state) => executions[state] > 0)
    .map((state) => `${executions[state]} ${stateText(state)}`)
    .join(", ")

/** Nothing while no version is known. */
export const Versions = ({ flow }: { readonly flow: string | undefined }) => {
  const { data } = useResource<VersionsJson>("flow-versions", { flow })
  if (data === undefined || data.versions.length === 0) return null
  return (
    <Panel title={text.flows.versions} flush>
      <Table<Version & { readonly id: string }>
        label={text.flows.versions}
        rows={data.versions.map((version) => ({ ...version, id: `${version.flow}@${version.version}` }))}
        columns={[
          { title: text.flows.flow, cell: ({ flow }) => flow },
          { title: text.common.version, isNumber: true, cell: ({ version }) => String(version) },
          { title: text.flows.unended, cell: unendedOf },
          { title: text.flows.oldest, cell: ({ oldest }) => (oldest === null ? "" : <Time at={oldest} />) },
          {
            title: text.flows.processes,
            isNumber: true,
            cell: ({ processes }) =>
              text.flows.drainingOf(processes.length, processes.filter(({ draining }) => draining).length)
          },
          {
            title: text.flows.removable,
            cell: ({ removable }) => (removable ? text.flows.mayBeDeleted : text.flows.needed)
          }
        ]}
      />
    </Panel>
  )
}
