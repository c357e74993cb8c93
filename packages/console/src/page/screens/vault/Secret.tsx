/** One secret: what it is for, and the keys that robots find in it. */
import type { SecretWithItemNames } from "@signalbox/api/contract/Secrets"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { Button, Empty, Head, Panel, Problem } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { useResource } from "../../load.ts"
import { go, to } from "../../route.ts"
import { may } from "../../state.ts"
import { several } from "../../words.ts"
import { SecretDialog } from "./SecretDialog.tsx"

export const Secret = ({ name }: { readonly name: string }) => {
  const path = `secrets/${encodeURIComponent(name)}`
  const { data: secret, error, reload } = useResource<SecretWithItemNames>(path)
  const [asked, setAsked] = useState<"change" | "delete" | null>(null)
  const close = () => setAsked(null)
  if (secret === undefined) {
    return (
      <>
        <Head title="Secret" />
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
                Delete…
              </Button>
              <Button kind="primary" onClick={() => setAsked("change")}>
                Change…
              </Button>
            </>
          ) : undefined
        }
      >
        {description ?? several(keys.length, "key")}
      </Head>
      <Problem message={error} />
      <Panel title="Keys">
        {keys.length === 0 ? (
          <Empty title="No keys">Robots find nothing in this secret.</Empty>
        ) : (
          <ul class="names" aria-label="Keys">
            {keys.map((key) => (
              <li key={key}>
                <span class="mono breaks">{key}</span>
                <span class="quiet">its value is shown to robots alone</span>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {asked === "change" ? (
        <SecretDialog secret={secret} onDone={reload} onClose={close} />
      ) : asked === "delete" ? (
        <Confirm
          title={`Delete ${name}`}
          submit="Delete the secret"
          done={`${name} is deleted.`}
          name={name}
          onSubmit={async () => {
            await call("DELETE", path)
            go(to(["vault"]))
          }}
          onClose={close}
        >
          <p>
            Its {several(keys.length, "value")} are gone for good, and robots, git and alerts that use it fail from now
            on. This cannot be undone.
          </p>
        </Confirm>
      ) : null}
    </>
  )
}
