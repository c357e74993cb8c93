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
import * as text from "../text/text.ts"

const Secrets = ({ page }: { readonly page: Page<SecretOf> }) => (
  <>
    <Table
      label={text.vault.secrets}
      rows={page.data.map((secret) => ({ ...secret, id: secret.name }))}
      columns={[
        {
          title: text.common.name,
          cell: ({ name }) => (
            <a class="name-link mono" href={to(["vault", name])}>
              {name}
            </a>
          )
        },
        {
          title: text.vault.purpose,
          cell: ({ description }) => description ?? <span class="quiet">{text.common.none}</span>
        }
      ]}
    />
    {page.has_more ? <p class="empty">{text.vault.newestOnly(<code>signalbox secrets list</code>)}</p> : null}
  </>
)

const Vault = () => {
  const { data: page, error, reload } = useResource<Page<SecretOf>>("secrets")
  const [isNew, setNew] = useState(false)
  const canWrite = may("Vault.write_secrets")
  return (
    <>
      <Head
        title={text.screens.vault}
        actions={
          canWrite ? (
            <Button kind="primary" onClick={() => setNew(true)}>
              {text.vault.new}
            </Button>
          ) : undefined
        }
      >
        {text.vault.subtitle}
      </Head>
      <Problem message={error} />
      <Panel flush>
        {page === undefined ? (
          error === null ? (
            <Skeleton />
          ) : null
        ) : page.data.length === 0 ? (
          <Empty title={text.vault.none}>
            {text.vault.noneHint(canWrite, <code>signalbox secrets create NAME</code>)}
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
