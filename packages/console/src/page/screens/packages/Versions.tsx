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
import { stateText } from "../../kit/states.ts"
import * as text from "../../text/text.ts"

const lamps: Readonly<Record<string, string>> = { current: "done", available: "none", rolled_back: "stopping" }

const authorOf = ({ created_by }: TaskPackageVersionListed) =>
  created_by === null
    ? ""
    : (created_by.name ??
      (created_by.type === "commit" ? text.packages.commitOf(created_by.id.slice(0, 7)) : text.packages.aKey))

export const Versions = ({ id, onDone }: { readonly id: string; readonly onDone: () => void }) => {
  const versions = useResource<Page<TaskPackageVersionListed>>(`task-packages/${id}/versions`, { limit: 20 })
  const [chosen, setChosen] = useState<TaskPackageVersionListed | null>(null)
  const rows = (versions.data?.data ?? []).map((one) => ({ ...one, id: String(one.version) }))
  const current = rows.find(({ state }) => state === "current")
  const isBack = chosen !== null && current !== undefined && chosen.version < current.version

  return (
    <Panel title={text.packages.versions} flush>
      <Problem message={versions.error} />
      <Table
        label={text.packages.versions}
        rows={rows}
        columns={[
          { title: text.common.version, cell: ({ version }) => <b>{version}</b> },
          {
            title: text.common.state,
            cell: ({ state }) => <State state={lamps[state] ?? "none"}>{stateText(state)}</State>
          },
          { title: text.common.created, cell: ({ created_at }) => <Time at={created_at} /> },
          { title: text.packages.createdBy, cell: authorOf },
          { title: text.common.note, cell: ({ note }) => note ?? "" },
          {
            title: text.common.actions,
            isNumber: true,
            cell: (one) =>
              one.state === "current" || !may("Tasks.write_task_packages", "Processes.trigger_processes") ? null : (
                <Button onClick={() => setChosen(one)}>
                  {current !== undefined && one.version < current.version
                    ? text.packages.rollBackNow
                    : text.packages.use}
                  <span class="hidden">{text.packages.versionSuffix(one.version)}</span>
                </Button>
              )
          }
        ]}
      />
      {chosen === null ? null : (
        <Confirm
          title={text.packages.changeTitle(isBack, chosen.version)}
          submit={text.packages.change(isBack, chosen.version)}
          done={text.packages.changed(chosen.version)}
          onSubmit={async () => {
            await call("POST", `task-packages/${id}/versions/${chosen.version}/promote`)
            versions.reload()
            onDone()
          }}
          onClose={() => setChosen(null)}
        >
          <p>{isBack ? text.packages.rollBackHint : text.packages.useHint}</p>
        </Confirm>
      )}
    </Panel>
  )
}
