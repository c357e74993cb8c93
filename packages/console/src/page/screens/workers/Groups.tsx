/** Groups of workers, to which steps can be bound. */
import type { Worker } from "@signalbox/api/contract/Workers"
import type { WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import type { Page } from "../../api.ts"
import { Empty, Panel, State } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { TextField } from "../../kit/Field.tsx"
import { List } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { go, to } from "../../route.ts"
import { may } from "../../state.ts"
import { count, several } from "../../words.ts"

/** The workers of the workspace, up to 500. */
export const useWorkers = () => {
  const { data, error, reload } = useResource<Page<Worker>>("workers", { limit: 500 })
  return { error, isWhole: data?.has_more !== true, reload, workers: data?.data }
}

export const isIn =
  (group: string) =>
  ({ worker_groups }: Worker): boolean =>
    worker_groups.some(({ id }) => id === group)

export const NewGroup = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState("")
  return (
    <FormDialog
      title="Make a group"
      submit="Make"
      done={`The group ${name.trim()} is there.`}
      canSubmit={name.trim() !== ""}
      onSubmit={async () => {
        const { id } = await call<WorkerGroup>("POST", "worker-groups", { body: { name: name.trim() } })
        go(to(["workers", "groups", id]))
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Such as what its machines have: steps that are bound to the group run on them alone."
        value={name}
        onValue={setName}
        required
        maxLength={255}
        autocomplete="off"
      />
    </FormDialog>
  )
}

export const Groups = () => {
  const { isWhole, workers } = useWorkers()
  const members = (group: string) => (workers ?? []).filter(isIn(group))
  return (
    <Panel flush>
      <List<WorkerGroup>
        label="Groups"
        path="worker-groups"
        empty={
          <Empty title="No groups yet">
            A step can be bound to a group, so that it runs only on machines that have what it needs.
            {may("Workers.write_workers") ? " Make one with the button above." : ""}
          </Empty>
        }
        columns={[
          {
            title: "Group",
            cell: ({ id, name }) => (
              <a class="name-link" href={to(["workers", "groups", id])}>
                {name}
              </a>
            )
          },
          {
            title: "State",
            cell: ({ id, paused }) => {
              const online = members(id).filter(({ state }) => state !== "offline").length
              return paused !== null ? (
                <State state="paused" />
              ) : workers === undefined ? null : online === 0 ? (
                <State state="offline">no worker online</State>
              ) : (
                <State state="online">{several(online, "worker")} online</State>
              )
            }
          },
          {
            title: "Members",
            isNumber: true,
            cell: ({ id }) => (workers === undefined ? "" : `${isWhole ? "" : "at least "}${count(members(id).length)}`)
          }
        ]}
      />
    </Panel>
  )
}
