/** The versions of a package, and the way back to an older one. */
import type { TaskPackageVersionListed } from "@signalbox/api/contract/TaskPackageVersions"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import type { Page } from "../../api.ts"
import { Button, Panel, Problem, State, Time } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { Table } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { may } from "../../state.ts"
import { sentence } from "../../words.ts"

const lamps: Readonly<Record<string, string>> = { current: "done", available: "none", rolled_back: "stopping" }

const authorOf = ({ created_by }: TaskPackageVersionListed) =>
  created_by === null
    ? ""
    : (created_by.name ?? (created_by.type === "commit" ? `commit ${created_by.id.slice(0, 7)}` : "a key"))

export const Versions = ({ id, onDone }: { readonly id: string; readonly onDone: () => void }) => {
  const versions = useResource<Page<TaskPackageVersionListed>>(`task-packages/${id}/versions`, { limit: 20 })
  const [chosen, setChosen] = useState<TaskPackageVersionListed | null>(null)
  const rows = (versions.data?.data ?? []).map((one) => ({ ...one, id: String(one.version) }))
  const current = rows.find(({ state }) => state === "current")
  const isBack = chosen !== null && current !== undefined && chosen.version < current.version
  const verb = isBack ? "Roll back to" : "Use"
  return (
    <Panel title="Versions" flush>
      <Problem message={versions.error} />
      <Table
        label="Versions"
        rows={rows}
        columns={[
          { title: "Version", cell: ({ version }) => <b>{version}</b> },
          {
            title: "State",
            cell: ({ state }) => <State state={lamps[state] ?? "none"}>{sentence(state)}</State>
          },
          { title: "Made", cell: ({ created_at }) => <Time at={created_at} /> },
          { title: "By", cell: authorOf },
          { title: "Note", cell: ({ note }) => note ?? "" },
          {
            title: "Change",
            isNumber: true,
            cell: (one) =>
              one.state === "current" || !may("Tasks.write_task_packages", "Processes.trigger_processes") ? null : (
                <Button onClick={() => setChosen(one)}>
                  {current !== undefined && one.version < current.version ? "Roll back to this" : "Use this"}
                  <span class="hidden">, version {one.version}</span>
                </Button>
              )
          }
        ]}
      />
      {chosen === null ? null : (
        <Confirm
          title={`${verb} version ${chosen.version}?`}
          submit={`${verb} version ${chosen.version}`}
          done={`Step runs that begin from now on use version ${chosen.version}.`}
          onSubmit={async () => {
            await call("POST", `task-packages/${id}/versions/${chosen.version}/promote`)
            versions.reload()
            onDone()
          }}
          onClose={() => setChosen(null)}
        >
          <p>
            What is in hand goes on with the version that it began with.
            {isBack ? " The versions after it count as rolled back; you can use them again from here." : ""}
          </p>
        </Confirm>
      )}
    </Panel>
  )
}
