/** Groups of workers, to which steps can be bound. */
import type { Worker } from "@signalbox/api/contract/Workers"
import type { WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import type { Page } from "../../api.ts"
import { Empty, Panel, State } from "../../kit/Basics.tsx"
import { FormDialog } from "../../kit/Dialog.tsx"
import { NameField } from "../../kit/Field.tsx"
import { List } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { go, to } from "../../route.ts"
import { count } from "../../format.ts"
import * as text from "../../text/text.ts"

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
      title={text.workers.newGroup}
      submit={text.workers.createGroup}
      done={text.workers.groupCreated(name.trim())}
      canSubmit={name.trim() !== ""}
      onSubmit={async () => {
        const { id } = await call<WorkerGroup>("POST", "worker-groups", { body: { name: name.trim() } })
        go(to(["workers", "groups", id]))
      }}
      onClose={onClose}
    >
      <NameField hint={text.workers.groupNameHint} value={name} onValue={setName} />
    </FormDialog>
  )
}

export const Groups = () => {
  const { isWhole, workers } = useWorkers()
  const members = (group: string) => (workers ?? []).filter(isIn(group))
  return (
    <Panel flush>
      <List<WorkerGroup>
        label={text.workers.groups}
        path="worker-groups"
        empty={<Empty title={text.workers.noGroups}>{text.workers.noGroupsHint}</Empty>}
        columns={[
          {
            title: text.workers.group,
            cell: ({ id, name }) => (
              <a class="name-link" href={to(["workers", "groups", id])}>
                {name}
              </a>
            )
          },
          {
            title: text.common.state,
            cell: ({ id, paused }) => {
              const online = members(id).filter(({ state }) => state !== "offline").length
              return paused !== null ? (
                <State state="paused" />
              ) : workers === undefined ? null : online === 0 ? (
                <State state="offline">{text.workers.noneOnline}</State>
              ) : (
                <State state="online">{text.workers.onlineCount(online)}</State>
              )
            }
          },
          {
            title: text.workers.members,
            isNumber: true,
            cell: ({ id }) =>
              workers === undefined ? "" : `${isWhole ? "" : text.workers.atLeast}${count(members(id).length)}`
          }
        ]}
      />
    </Panel>
  )
}
