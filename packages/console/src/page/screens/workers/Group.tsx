/** One group: its members, its link tokens, and how it is held. */
import type { Worker } from "@signalbox/api/contract/Workers"
import type { GroupLinkToken, WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import type { Page } from "../../api.ts"
import { Button, Empty, Head, Panel, Problem } from "../../kit/Basics.tsx"
import { Confirm, FormDialog } from "../../kit/Dialog.tsx"
import { SelectField } from "../../kit/Field.tsx"
import { List, Table } from "../../kit/List.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { exactly } from "../../words.ts"
import { DeleteDialog, NotLoaded, PauseButton } from "../work/Resource.tsx"
import { PauseDialog, PausedNotice } from "../work/Pause.tsx"
import { isIn, useWorkers } from "./Groups.tsx"
import { LinkDialog } from "./Link.tsx"
import { RenameDialog } from "./Rename.tsx"
import { InHand, WorkerState } from "./State.tsx"

const AddMember = ({
  group,
  onClose,
  onDone
}: {
  readonly group: WorkerGroup
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const { error, workers } = useWorkers()
  const [chosen, setChosen] = useState("")
  const others = (workers ?? []).filter((worker) => !isIn(group.id)(worker))
  const worker = chosen === "" ? (others[0]?.id ?? "") : chosen
  return (
    <FormDialog
      title={`Add a worker to ${group.name}`}
      submit="Add"
      done="The worker is a member."
      canSubmit={worker !== ""}
      onSubmit={async () => {
        await call("POST", `worker-groups/${group.id}/workers`, { body: { worker: { id: worker } } })
        onDone()
      }}
      onClose={onClose}
    >
      <Problem message={error} />
      <SelectField
        label="Worker"
        hint={
          workers !== undefined && others.length === 0
            ? "Each worker of the workspace is a member: link a new one."
            : "A worker may be in several groups."
        }
        value={worker}
        onValue={setChosen}
        options={others.map(({ id, name, state }) => ({ value: String(id), label: `${name} (${state})` }))}
      />
    </FormDialog>
  )
}

const Members = ({ group, onLink }: { readonly group: WorkerGroup; readonly onLink: () => void }) => {
  const { data, error, reload } = useResource<Page<Worker>>("workers", { worker_group_id: group.id, limit: 500 })
  const [isAdding, setAdding] = useState(false)
  const removing = useAction()
  const members = data?.data
  const canWrite = may("Workers.write_workers")
  const remove = ({ id, name }: Worker) =>
    void removing.run(async () => {
      await call("DELETE", `worker-groups/${group.id}/workers/${id}`)
      reload()
    }, `${name} is no longer in ${group.name}.`)
  return (
    <Panel title="Members" flush>
      <Problem message={error ?? removing.error} />
      {data?.has_more === true ? <p class="notice late">Only the newest 500 members are shown.</p> : null}
      {members === undefined ? null : members.length === 0 ? (
        <Empty title="No worker is in this group">
          Steps that are bound to it wait.
          {canWrite ? " Add a worker that is linked, or link a new one into the group." : ""}
        </Empty>
      ) : (
        <Table
          label="Members"
          rows={members}
          columns={[
            {
              title: "Worker",
              cell: ({ id, name }) => (
                <a class="name-link" href={to(["workers", id])}>
                  {name}
                </a>
              )
            },
            { title: "State", cell: (worker) => <WorkerState worker={worker} /> },
            { title: "Working on", cell: (worker) => <InHand worker={worker} /> },
            {
              title: "Change",
              isNumber: true,
              cell: (worker) =>
                canWrite ? (
                  <Button disabled={removing.isBusy} onClick={() => remove(worker)}>
                    Take out<span class="hidden">, {worker.name}</span>
                  </Button>
                ) : null
            }
          ]}
        />
      )}
      {canWrite ? (
        <div class="actions below">
          <Button onClick={() => setAdding(true)}>Add a worker…</Button>
          <Button onClick={onLink}>Link a new one…</Button>
        </div>
      ) : null}
      {isAdding ? <AddMember group={group} onDone={reload} onClose={() => setAdding(false)} /> : null}
    </Panel>
  )
}

const Tokens = ({ group }: { readonly group: string }) => {
  const [chosen, setChosen] = useState<GroupLinkToken | null>(null)
  const [deleted, setDeleted] = useState(0)
  const path = `worker-groups/${group}/link-tokens`
  return (
    <Panel title="Link tokens" flush>
      <List<GroupLinkToken>
        key={deleted}
        label="Link tokens"
        path={path}
        empty={<Empty title="None">A token links any number of machines into the group.</Empty>}
        columns={[
          { title: "Name", cell: ({ name }) => name },
          {
            title: "Until",
            cell: ({ expires_at }) => (expires_at === null ? "it is deleted" : exactly(expires_at))
          },
          {
            title: "Change",
            isNumber: true,
            cell: (token) =>
              may("Workers.write_workers") ? (
                <Button kind="danger" onClick={() => setChosen(token)}>
                  Delete…<span class="hidden">, {token.name}</span>
                </Button>
              ) : null
          }
        ]}
      />
      {chosen === null ? null : (
        <Confirm
          title={`Delete the token ${chosen.name}?`}
          submit="Delete the token"
          done={`The token ${chosen.name} is deleted.`}
          onSubmit={async () => {
            await call("DELETE", `${path}/${chosen.id}`)
            setDeleted(deleted + 1)
          }}
          onClose={() => setChosen(null)}
        >
          <p>No further machine can be linked with it. Workers that it linked remain.</p>
        </Confirm>
      )}
    </Panel>
  )
}

export const Group = ({ id }: { readonly id: string }) => {
  const loaded = useResource<WorkerGroup>(`worker-groups/${id}`)
  const [asked, setAsked] = useState<"pause" | "rename" | "link" | "delete" | null>(null)
  const action = useAction()
  const close = () => setAsked(null)
  const group = loaded.data
  if (group === undefined) return <NotLoaded title="Group" error={loaded.error} />
  const { name, paused } = group
  const path = `worker-groups/${id}`
  const resume = () =>
    void action.run(async () => {
      await call("POST", `${path}/resume`)
      loaded.reload()
    }, `Steps of ${name} are resumed.`)
  return (
    <>
      <Head
        title={name}
        state={paused === null ? undefined : "paused"}
        actions={
          <>
            {may("Workers.write_workers") ? (
              <>
                <Button kind="danger" onClick={() => setAsked("delete")}>
                  Delete…
                </Button>
                <Button onClick={() => setAsked("rename")}>Rename…</Button>
              </>
            ) : null}
            {may("Workers.pause_workers") ? (
              <PauseButton
                isBusy={action.isBusy}
                isPaused={paused !== null}
                onPause={() => setAsked("pause")}
                onResume={resume}
              />
            ) : null}
          </>
        }
      >
        a group of workers
      </Head>
      <Problem message={action.error ?? loaded.error} />
      {paused === null ? null : <PausedNotice paused={paused} what="The group" />}
      <div class="two">
        <div class="stack">
          <Members group={group} onLink={() => setAsked("link")} />
        </div>
        <div class="stack">
          <Tokens key={asked === "link" ? "asked" : "there"} group={id} />
        </div>
      </div>
      {asked === "pause" ? (
        <PauseDialog
          what={name}
          path={path}
          effect="Steps that are bound to it wait until it is resumed. Its workers finish what they have, and still get what is bound to no group."
          onDone={loaded.reload}
          onClose={close}
        />
      ) : asked === "rename" ? (
        <RenameDialog
          name={name}
          path={path}
          hint="Steps stay bound to it; files that name it by its old name do not find it."
          onDone={loaded.reload}
          onClose={close}
        />
      ) : asked === "link" ? (
        <LinkDialog group={group} onClose={close} />
      ) : asked === "delete" ? (
        <DeleteDialog
          title={`Delete ${name}?`}
          submit="Delete the group"
          done={`${name} is deleted.`}
          path={path}
          list={["workers", "groups"]}
          onClose={close}
        >
          <p>
            Its workers remain, its link tokens are deleted. A group that a step names is kept, and the message says
            which. This cannot be undone.
          </p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
