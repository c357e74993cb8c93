/** Keys of the workspace: who has which, made and revoked. */
import type { ApiKey } from "@signalbox/api/contract/ApiKeys"
import { useState } from "preact/hooks"
import { call } from "../action.ts"
import { Button, Empty, Head, Panel, Time } from "../kit/Basics.tsx"
import { Confirm } from "../kit/Dialog.tsx"
import { List } from "../kit/List.tsx"
import { session } from "../state.ts"
import { NewKey } from "./keys/NewKey.tsx"
import { actsOf, inWords, presetOf } from "./keys/permissions.ts"
import * as text from "../text/text.ts"

/** Acts that are told one by one. */
const shown = 6

const isOwn = (id: string) => session.value?.key?.id === id

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
      title={text.keys.revokeTitle(name)}
      submit={text.keys.revoke}
      done={text.keys.revoked(name)}
      name={isOwn(id) ? name : undefined}
      onSubmit={async () => {
        await call("DELETE", `api-keys/${id}`)
        onDone()
      }}
      onClose={onClose}
    >
      <p>
        <b>{text.keys.revokeHint}</b> {acts.length === 0 ? text.keys.readsOnly : text.keys.allows}
      </p>
      {acts.length === 0 ? null : (
        <ul>
          {acts.slice(0, shown).map((act) => (
            <li key={act}>{act}</li>
          ))}
          {acts.length > shown ? <li>{text.keys.otherActs(acts.length - shown)}</li> : null}
        </ul>
      )}
      <p>{text.keys.revokeEffect}</p>
      {isOwn(id) ? (
        <p class="notice failed">
          <b>{text.keys.ownKey}</b> {text.keys.ownKeyHint}
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
        title={text.screens.keys}
        actions={
          <Button kind="primary" onClick={() => setNew(true)}>
            {text.keys.new}
          </Button>
        }
      >
        {text.keys.subtitle}
      </Head>
      <Panel flush>
        <List<ApiKey>
          key={changes}
          label={text.screens.keys}
          path="api-keys"
          empty={<Empty title={text.keys.none}>{text.keys.noneHint}</Empty>}
          columns={[
            {
              title: text.common.name,
              cell: ({ id, name }) => (
                <>
                  <b class="breaks">{name}</b>
                  {isOwn(id) ? <div class="quiet">{text.keys.current}</div> : null}
                </>
              )
            },
            {
              title: text.keys.permissions,
              cell: ({ name, permissions }) => (
                <details>
                  <summary>
                    {presetOf(permissions)?.label ?? text.keys.permissionCount(permissions.length)}
                    <span class="hidden">{text.keys.ofKey(name)}</span>
                  </summary>
                  <ul class="plain inhand">
                    {permissions.map((permission) => (
                      <li key={permission}>{inWords(permission)}</li>
                    ))}
                  </ul>
                </details>
              )
            },
            { title: text.keys.owner, cell: ({ owner }) => owner?.login ?? text.keys.ofWorkspace },
            { title: text.keys.lastUsed, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
            { title: text.common.created, cell: ({ created_at }) => <Time at={created_at} /> },
            {
              title: text.common.actions,
              isNumber: true,
              cell: (key) => (
                <Button kind="danger" onClick={() => setChosen(key)}>
                  {text.keys.revokeMore}
                  <span class="hidden">, {key.name}</span>
                </Button>
              )
            }
          ]}
        />
      </Panel>
      {isNew ? <NewKey onClose={() => setNew(false)} onDone={onDone} /> : null}
      {chosen === null ? null : <Revoke of={chosen} onClose={() => setChosen(null)} onDone={onDone} />}
    </>
  )
}
