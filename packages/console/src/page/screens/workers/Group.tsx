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
import { exactly } from "../../format.ts"
import { DeleteDialog, NotLoaded, PauseButton } from "../work/Resource.tsx"
import { PauseDialog, PausedNotice } from "../work/Pause.tsx"
import { isIn, useWorkers } from "./Groups.tsx"
import { LinkDialog } from "./Link.tsx"
import { RenameDialog } from "./Rename.tsx"
import { CurrentWork, WorkerState } from "./State.tsx"
import { stateText } from "../../kit/states.ts"
import * as text from "../../text/text.ts"

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
      title={text.workers.addTitle(group.name)}
      submit={text.workers.add}
      done={text.workers.added}
      canSubmit={worker !== ""}
      onSubmit={async () => {
        await call("POST", `worker-groups/${group.id}/workers`, { body: { worker: { id: worker } } })
        onDone()
      }}
      onClose={onClose}
    >
      <Problem message={error} />
      <SelectField
        label={text.workers.worker}
        hint={workers !== undefined && others.length === 0 ? text.workers.allAreMembers : text.workers.severalGroups}
        value={worker}
        onValue={setChosen}
        options={others.map(({ id, name, state }) => ({
          value: String(id),
          label: text.workers.memberOption(name, stateText(state))
        }))}
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
    void removing.run(
      async () => {
        await call("DELETE", `worker-groups/${group.id}/workers/${id}`)
        reload()
      },
      text.workers.removed(name, group.name)
    )
  return (
    <Panel title={text.workers.members} flush>
      <Problem message={error ?? removing.error} />
      {data?.has_more === true ? <p class="notice late">{text.workers.firstMembers}</p> : null}
      {members === undefined ? null : members.length === 0 ? (
        <Empty title={text.workers.noMembers}>{text.workers.noMembersHint(canWrite)}</Empty>
      ) : (
        <Table
          label={text.workers.members}
          rows={members}
          columns={[
            {
              title: text.workers.worker,
              cell: ({ id, name }) => (
                <a class="name-link" href={to(["workers", id])}>
                  {name}
                </a>
              )
            },
            { title: text.common.state, cell: (worker) => <WorkerState worker={worker} /> },
            { title: text.workers.currentWork, cell: (worker) => <CurrentWork worker={worker} /> },
            {
              title: text.common.actions,
              isNumber: true,
              cell: (worker) =>
                canWrite ? (
                  <Button disabled={removing.isBusy} onClick={() => remove(worker)}>
                    {text.common.remove}
                    <span class="hidden">, {worker.name}</span>
                  </Button>
                ) : null
            }
          ]}
        />
      )}
      {canWrite ? (
        <div class="actions below">
          <Button onClick={() => setAdding(true)}>{text.workers.addMore}</Button>
          <Button onClick={onLink}>{text.workers.linkMore}</Button>
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
    <Panel title={text.workers.tokens} flush>
      <List<GroupLinkToken>
        key={deleted}
        label={text.workers.tokens}
        path={path}
        empty={<Empty title={text.workers.noTokens}>{text.workers.noTokensHint}</Empty>}
        columns={[
          { title: text.common.name, cell: ({ name }) => name },
          {
            title: text.workers.expires,
            cell: ({ expires_at }) => (expires_at === null ? text.workers.never : exactly(expires_at))
          },
          {
            title: text.common.actions,
            isNumber: true,
            cell: (token) =>
              may("Workers.write_workers") ? (
                <Button kind="danger" onClick={() => setChosen(token)}>
                  {text.common.delete}
                  <span class="hidden">, {token.name}</span>
                </Button>
              ) : null
          }
        ]}
      />
      {chosen === null ? null : (
        <Confirm
          title={text.workers.deleteTokenTitle(chosen.name)}
          submit={text.workers.deleteToken}
          done={text.workers.tokenDeleted(chosen.name)}
          onSubmit={async () => {
            await call("DELETE", `${path}/${chosen.id}`)
            setDeleted(deleted + 1)
          }}
          onClose={() => setChosen(null)}
        >
          <p>{text.workers.deleteTokenHint}</p>
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
  if (group === undefined) return <NotLoaded title={text.workers.group} error={loaded.error} />
  const { name, paused } = group
  const path = `worker-groups/${id}`
  const resume = () =>
    void action.run(async () => {
      await call("POST", `${path}/resume`)
      loaded.reload()
    }, text.workers.resumed(name))
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
                  {text.common.delete}
                </Button>
                <Button onClick={() => setAsked("rename")}>{text.workers.renameMore}</Button>
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
        {text.workers.aGroup}
      </Head>
      <Problem message={action.error ?? loaded.error} />
      {paused === null ? null : <PausedNotice paused={paused} what={text.workers.group} />}
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
          effect={text.workers.groupPauseEffect}
          onDone={loaded.reload}
          onClose={close}
        />
      ) : asked === "rename" ? (
        <RenameDialog
          name={name}
          path={path}
          hint={text.workers.renameGroupHint}
          onDone={loaded.reload}
          onClose={close}
        />
      ) : asked === "link" ? (
        <LinkDialog group={group} onClose={close} />
      ) : asked === "delete" ? (
        <DeleteDialog
          title={text.common.deleteOf(name)}
          submit={text.workers.deleteGroup}
          done={text.workers.groupDeleted(name)}
          path={path}
          list={["workers", "groups"]}
          onClose={close}
        >
          <p>{text.workers.deleteGroupHint}</p>
        </DeleteDialog>
      ) : null}
    </>
  )
}
