/** One secret: what it is for, and the keys that robots find in it. */
import type { SecretWithItemNames } from "@signalbox/api/contract/Secrets"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { useResource } from "../../load.ts"
import { go, to } from "../../route.ts"
import { may } from "../../state.ts"
import { ChangedBy } from "../work/ChangedBy.tsx"
import { SecretDialog } from "./SecretDialog.tsx"
import * as text from "../../text/text.ts"

export const Secret = ({ name }: { readonly name: string }) => {
  const path = `secrets/${encodeURIComponent(name)}`
  const { data: secret, error, reload } = useResource<SecretWithItemNames>(path)
  const [asked, setAsked] = useState<"change" | "delete" | null>(null)
  const close = () => setAsked(null)
  if (secret === undefined) {
    return (
      <>
        <Head title={text.common.secret} />
        <Problem message={error} />
      </>
    )
  }
  const { description, item_names: keys } = secret
  return (
    <>
      <Head
        title={name}
        actions={
          may("Vault.write_secrets") ? (
            <>
              <Button kind="danger" onClick={() => setAsked("delete")}>
                {text.common.delete}
              </Button>
              <Button kind="primary" onClick={() => setAsked("change")}>
                {text.common.editMore}
              </Button>
            </>
          ) : undefined
        }
      >
        {description ?? text.vault.keyCount(keys.length)} <ChangedBy type="secret" id={name} />
      </Head>
      <Problem message={error} />
      <Panel title={text.vault.keys}>
        {keys.length === 0 ? (
          <Empty title={text.vault.noKeys}>{text.vault.noKeysHint}</Empty>
        ) : (
          <ul class="names" aria-label={text.vault.keys}>
            {keys.map((key) => (
              <li key={key}>
                <span class="mono breaks">{key}</span>
                <span class="quiet">{text.vault.valueHidden}</span>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {asked === "change" ? (
        <SecretDialog secret={secret} onDone={reload} onClose={close} />
      ) : asked === "delete" ? (
        <Confirm
          title={text.common.deleteOf(name)}
          submit={text.vault.deleteSecret}
          done={text.vault.deleted(name)}
          name={name}
          onSubmit={async () => {
            await call("DELETE", path)
            go(to(["vault"]))
          }}
          onClose={close}
        >
          <p>{text.vault.deleteHint(keys.length)}</p>
        </Confirm>
      ) : null}
    </>
  )
}
