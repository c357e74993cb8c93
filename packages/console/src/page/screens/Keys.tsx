/** Keys of the workspace: who has which, made and revoked. */
import type { ApiKey } from "@signalbox/api/contract/ApiKeys"
import { useState } from "preact/hooks"
import { call } from "../action.ts"
import { Button, Empty, Head, Panel, Time } from "../kit/Basics.tsx"
import { Confirm } from "../kit/Dialog.tsx"
import { List } from "../kit/List.tsx"
import { session } from "../state.ts"
import { several } from "../words.ts"
import { MakeKey } from "./keys/Make.tsx"
import { actsOf, inWords, presetOf } from "./keys/permissions.ts"

/** Acts that are told one by one. */
const shown = 6

const isOwn = (id: string) => session.value?.key.id === id

const Revoke = ({
  of: { id, name, permissions },
  onClose,
  onDone
}: {
  readonly of: ApiKey
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const acts = actsOf(permissions)
  return (
    <Confirm
      title={`Revoke the key ${name}?`}
      submit="Revoke the key"
      done={`The key ${name} is revoked.`}
      name={isOwn(id) ? name : undefined}
      onSubmit={async () => {
        await call("DELETE", `api-keys/${id}`)
        onDone()
      }}
      onClose={onClose}
    >
      <p>
        <b>Programs and people who use it are refused immediately.</b>{" "}
        {acts.length === 0 ? "They can no longer read what they read with it." : "They can no longer read, nor"}
      </p>
      {acts.length === 0 ? null : (
        <ul>
          {acts.slice(0, shown).map((act) => (
            <li key={act}>{act}</li>
          ))}
          {acts.length > shown ? <li>do {acts.length - shown} other things</li> : null}
        </ul>
      )}
      <p>
        It cannot be brought back: they need a new key. Workers, schedules, triggers and runs that have begun go on,
        since they do not use it.
      </p>
      {isOwn(id) ? (
        <p class="notice failed">
          <b>You are signed in with this key.</b> This page is signed out too; you need another key to come back.
        </p>
      ) : null}
    </Confirm>
  )
}

export default () => {
  const [chosen, setChosen] = useState<ApiKey | null>(null)
  const [isNew, setNew] = useState(false)
  const [changes, setChanges] = useState(0)
  const onDone = () => setChanges(changes + 1)
  return (
    <>
      <Head
        title="Keys"
        actions={
          <Button kind="primary" onClick={() => setNew(true)}>
            Make a key
          </Button>
        }
      >
        with which programs and people reach this workspace
      </Head>
      <Panel flush>
        <List<ApiKey>
          key={changes}
          label="Keys"
          path="api-keys"
          empty={<Empty title="No keys">Each program that talks to this workspace needs one.</Empty>}
          columns={[
            {
              title: "Name",
              cell: ({ id, name }) => (
                <>
                  <b class="breaks">{name}</b>
                  {isOwn(id) ? <div class="quiet">you are signed in with it</div> : null}
                </>
              )
            },
            {
              title: "It can",
              cell: ({ name, permissions }) => (
                <details>
                  <summary>
                    {presetOf(permissions)?.label ?? several(permissions.length, "permission")}
                    <span class="hidden"> of {name}</span>
                  </summary>
                  <ul class="plain inhand">
                    {permissions.map((permission) => (
                      <li key={permission}>{inWords(permission)}</li>
                    ))}
                  </ul>
                </details>
              )
            },
            { title: "Made", cell: ({ created_at }) => <Time at={created_at} /> },
            {
              title: "Change",
              isNumber: true,
              cell: (key) => (
                <Button kind="danger" onClick={() => setChosen(key)}>
                  Revoke…<span class="hidden">, {key.name}</span>
                </Button>
              )
            }
          ]}
        />
      </Panel>
      {isNew ? <MakeKey onClose={() => setNew(false)} onDone={onDone} /> : null}
      {chosen === null ? null : <Revoke of={chosen} onClose={() => setChosen(null)} onDone={onDone} />}
    </>
  )
}
