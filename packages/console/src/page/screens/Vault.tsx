/** The vault: secrets by name. Their values are set here, and never fetched. */
import type { Secret } from "@signalbox/api/contract/Secrets"
import { useState } from "preact/hooks"
import { call } from "../action.ts"
import type { Page } from "../api.ts"
import { Button, Empty, Head, Panel, Problem, Skeleton } from "../kit/Basics.tsx"
import { Confirm } from "../kit/Dialog.tsx"
import { Table } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { may } from "../state.ts"
import { SecretDialog } from "./vault/SecretDialog.tsx"

type Asked = { readonly what: "new" } | { readonly what: "replace" | "delete"; readonly secret: Secret }

const Secrets = ({
  canWrite,
  onAsk,
  page
}: {
  readonly page: Page<Secret>
  readonly canWrite: boolean
  readonly onAsk: (asked: Asked) => void
}) => (
  <>
    <Table<Secret & { readonly id: string }>
      label="Secrets"
      rows={page.data.map((secret) => ({ ...secret, id: secret.name }))}
      columns={[
        {
          title: "Name",
          cell: ({ name }) => (
            <b>
              <span class="mono">{name}</span>
            </b>
          )
        },
        { title: "What it is for", cell: ({ description }) => description ?? <span class="quiet">not said</span> },
        ...(canWrite
          ? [
              {
                title: "Change",
                cell: (secret: Secret) => (
                  <span class="buttons">
                    <Button
                      aria-label={`Replace the values of ${secret.name}`}
                      onClick={() => onAsk({ what: "replace", secret })}
                    >
                      Replace…
                    </Button>
                    <Button
                      kind="danger"
                      aria-label={`Delete ${secret.name}`}
                      onClick={() => onAsk({ what: "delete", secret })}
                    >
                      Delete…
                    </Button>
                  </span>
                )
              }
            ]
          : [])
      ]}
    />
    {page.has_more ? (
      <p class="empty">
        These are the newest. <code>signalbox secrets list</code> shows all.
      </p>
    ) : null}
  </>
)

export default () => {
  const { data: page, error, reload } = useResource<Page<Secret>>("secrets")
  const [asked, setAsked] = useState<Asked | null>(null)
  const canWrite = may("Vault.write_secrets")
  const close = () => setAsked(null)
  return (
    <>
      <Head
        title="Vault"
        actions={
          canWrite ? (
            <Button kind="primary" onClick={() => setAsked({ what: "new" })}>
              Make a secret
            </Button>
          ) : undefined
        }
      >
        Values are set here, and shown to robots alone.
      </Head>
      <Problem message={error} />
      <Panel flush>
        {page === undefined ? (
          error === null ? (
            <Skeleton />
          ) : null
        ) : page.data.length === 0 ? (
          <Empty title="No secrets yet">
            Passwords and keys that robots need are stored here, sealed.{" "}
            {canWrite ? "Make one here, or with " : "They are made here, or with "}
            <code>signalbox secrets create NAME</code>
          </Empty>
        ) : (
          <Secrets page={page} canWrite={canWrite} onAsk={setAsked} />
        )}
      </Panel>
      {asked === null ? null : asked.what === "new" ? (
        <SecretDialog onDone={reload} onClose={close} />
      ) : asked.what === "replace" ? (
        <SecretDialog secret={asked.secret} onDone={reload} onClose={close} />
      ) : (
        <Confirm
          title={`Delete ${asked.secret.name}`}
          submit="Delete the secret"
          done={`${asked.secret.name} is deleted.`}
          name={asked.secret.name}
          onSubmit={async () => {
            await call("DELETE", `secrets/${asked.secret.name}`)
            reload()
          }}
          onClose={close}
        >
          <p>
            Its values are gone for good, and robots, git and alerts that use it fail from now on. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </>
  )
}
