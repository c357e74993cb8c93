/** Links a machine: a token that is shown once, in the command to paste there. */
import type { LinkToken } from "@signalbox/api/contract/Workers"
import type { GroupLinkTokenCreated, WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { type Page, roomAddress } from "../../api.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { SelectField, TextField } from "../../kit/Field.tsx"
import { useResource } from "../../load.ts"
import { ShownOnceDialog } from "../work/ShownOnce.tsx"
import { isOnlyHere, startCommand } from "../connect/snippets.ts"
import { names } from "../../text/names.ts"
import * as text from "../../text/text.ts"

type System = "posix" | "windows"

interface Token {
  readonly token: string
  /** How long and how often the token can be used. */
  readonly expires: string
}

const lives = {
  "1": text.workers.day,
  "30": text.workers.days30,
  "365": text.workers.year,
  always: text.workers.noExpiry
} as const

const days = (number: number) => new Date(Date.now() + number * 86_400_000).toISOString()

const Command = ({ expires, onClose, token }: Token & { readonly onClose: () => void }) => {
  const [system, setSystem] = useState<System>("posix")
  return (
    <ShownOnceDialog
      title={text.workers.linkCommand}
      value={startCommand(system, roomAddress, token)}
      onClose={onClose}
    >
      <SelectField
        label={text.workers.system}
        value={system}
        onValue={setSystem}
        options={[
          { value: "posix", label: names.unix },
          { value: "windows", label: text.workers.windows }
        ]}
      />
      <p>{text.workers.commandHint(<b>{text.workers.copyCommand}</b>, expires)}</p>
      {isOnlyHere(roomAddress) ? (
        <p class="notice late">{text.workers.onlyHere(<code>--host 0.0.0.0 --public-url</code>)}</p>
      ) : null}
    </ShownOnceDialog>
  )
}

export const LinkDialog = ({ group, onClose }: { readonly group?: WorkerGroup; readonly onClose: () => void }) => {
  const groups = useResource<Page<WorkerGroup>>(group === undefined ? "worker-groups" : null, { limit: 500 })
  const choices = group === undefined ? (groups.data?.data ?? []) : [group]
  const [into, setInto] = useState<string>(group?.id ?? "")
  const [name, setName] = useState("")
  const [life, setLife] = useState<keyof typeof lives>("30")
  const [shown, setShown] = useState<Token | null>(null)
  if (shown !== null) return <Command {...shown} onClose={onClose} />
  const submit = async (): Promise<Token> => {
    if (into === "") {
      const { link_token } = await call<LinkToken>("POST", "workers/link-tokens")
      return { token: link_token, expires: text.workers.linksOne }
    }
    // The page gets what is redacted in programs as text.
    const { link_token } = await call<Omit<GroupLinkTokenCreated, "link_token"> & { readonly link_token: string }>(
      "POST",
      `worker-groups/${into}/link-tokens`,
      { body: { name: name.trim(), expires_at: life === "always" ? null : days(Number(life)) } }
    )
    return { token: link_token, expires: text.workers.linksMany(life === "always" ? null : lives[life]) }
  }
  return (
    <FormDialog
      title={text.workers.link}
      submit={text.workers.createCommand}
      onSubmit={submit}
      onDone={setShown}
      onClose={onClose}
    >
      <p>{text.workers.linkHint}</p>
      {group === undefined && choices.length > 0 ? (
        <SelectField
          label={text.workers.purpose}
          value={into}
          onValue={setInto}
          options={[
            { value: "", label: text.workers.oneWorker },
            ...choices.map(({ id, name }) => ({ value: String(id), label: text.workers.workersOf(name) }))
          ]}
        />
      ) : null}
      {into === "" ? null : (
        <>
          <TextField
            label={text.workers.tokenName}
            hint={text.workers.tokenNameHint}
            value={name}
            onValue={setName}
            required
            maxLength={255}
            autocomplete="off"
          />
          <SelectField
            label={text.workers.validity}
            value={life}
            onValue={setLife}
            options={[
              { value: "1", label: lives["1"] },
              { value: "30", label: lives["30"] },
              { value: "365", label: lives["365"] },
              { value: "always", label: lives.always }
            ]}
          />
        </>
      )}
    </FormDialog>
  )
}
