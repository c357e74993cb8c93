/** The vault: secrets by name. Their values are set here, and never fetched. */
import type { Secret as SecretOf } from "@signalbox/api/contract/Secrets"
import { useState } from "preact/hooks"
import type { Page } from "../api.ts"
import { Button, Empty, Head, Panel, Problem, Skeleton } from "../kit/Basics.tsx"
import { Table } from "../kit/List.tsx"
import { useResource } from "../load.ts"
import { to } from "../route.ts"
import type { ScreenProps } from "../kit/Screen.ts"
import { may } from "../state.ts"
import { Secret } from "./vault/Secret.tsx"
import { SecretDialog } from "./vault/SecretDialog.tsx"

const Secrets = ({ page }: { readonly page: Page<SecretOf> }) => (
  <>
    <Table
      label="Secrets"
      rows={page.data.map((secret) => ({ ...secret, id: secret.name }))}
      columns={[
        {
          title: "Name",
          cell: ({ name }) => (
            <a class="name-link mono" href={to(["vault", name])}>
              {name}
            </a>
          )
        },
        { title: "What it is for", cell: ({ description }) => description ?? <span class="quiet">not said</span> }
      ]}
    />
    {page.has_more ? (
      <p class="empty">
        These are the newest. <code>signalbox secrets list</code> shows all.
      </p>
    ) : null}
  </>
)

const Vault = () => {
  const { data: page, error, reload } = useResource<Page<SecretOf>>("secrets")
  const [isNew, setNew] = useState(false)
  const canWrite = may("Vault.write_secrets")
  return (
    <>
      <Head
        title="Vault"
        actions={
          canWrite ? (
            <Button kind="primary" onClick={() => setNew(true)}>
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
          <Secrets page={page} />
        )}
      </Panel>
      {isNew ? <SecretDialog onDone={reload} onClose={() => setNew(false)} /> : null}
    </>
  )
}

export default ({ path: [name] }: ScreenProps) => (name === undefined ? <Vault /> : <Secret key={name} name={name} />)
