/** Links a machine: a token that is shown once, in the command to paste there. */
import type { LinkToken } from "@signalbox/api/contract/Workers"
import type { GroupLinkTokenCreated, WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { useRef, useState } from "preact/hooks"
import { call } from "../../action.ts"
import { type Page, roomAddress } from "../../api.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { SelectField, TextField } from "../../kit/Field.tsx"
import { useResource } from "../../load.ts"
import { OnceDialog } from "../work/Once.tsx"
import { isOnlyHere, startCommand } from "../connect/snippets.ts"

type System = "posix" | "windows"

interface Made {
  readonly token: string
  /** How long and how often the token can be used. */
  readonly expires: string
}

const lives = {
  "1": "for a day",
  "30": "for 30 days",
  "365": "for a year",
  always: "until it is deleted"
} as const

const days = (number: number) => new Date(Date.now() + number * 86_400_000).toISOString()

const Command = ({ expires, onClose, token }: Made & { readonly onClose: () => void }) => {
  const [system, setSystem] = useState<System>("posix")
  return (
    <OnceDialog title="Paste this on the machine" value={startCommand(system, roomAddress, token)} onClose={onClose}>
      <SelectField
        label="The machine"
        value={system}
        onValue={setSystem}
        options={[
          { value: "posix", label: "Linux or macOS" },
          { value: "windows", label: "Windows, in PowerShell" }
        ]}
      />
      <p>
        It starts a worker in the folder where it is pasted; it needs Node 22.19 or later.{" "}
        <b>The token is shown only now</b>. {expires} A worker that is linked does not need it again.
      </p>
      {isOnlyHere(roomAddress) ? (
        <p class="notice late">
          This address is of this machine alone. For workers elsewhere, start the room with{" "}
          <code>--host 0.0.0.0 --public-url</code> and open this page by that address.
        </p>
      ) : null}
    </OnceDialog>
  )
}

export const LinkDialog = ({ group, onClose }: { readonly group?: WorkerGroup; readonly onClose: () => void }) => {
  const groups = useResource<Page<WorkerGroup>>(group === undefined ? "worker-groups" : null, { limit: 500 })
  const choices = group === undefined ? (groups.data?.data ?? []) : [group]
  const [into, setInto] = useState<string>(group?.id ?? "")
  const [name, setName] = useState("")
  const [life, setLife] = useState<keyof typeof lives>("30")
  const made = useRef<Made | null>(null)
  const [shown, setShown] = useState<Made | null>(null)
  if (shown !== null) return <Command {...shown} onClose={onClose} />
  const submit = async () => {
    if (into === "") {
      const { link_token } = await call<LinkToken>("POST", "workers/link-tokens")
      made.current = { token: link_token, expires: "It links one worker, within an hour." }
    } else {
      // The page gets what is redacted in programs as text.
      const { link_token } = await call<Omit<GroupLinkTokenCreated, "link_token"> & { readonly link_token: string }>(
        "POST",
        `worker-groups/${into}/link-tokens`,
        { body: { name: name.trim(), expires_at: life === "always" ? null : days(Number(life)) } }
      )
      made.current = { token: link_token, expires: `It links any number of workers ${lives[life]}.` }
    }
  }
  return (
    <FormDialog
      title="Link a worker"
      submit="Make the command"
      onSubmit={submit}
      onClose={() => (made.current === null ? onClose() : setShown(made.current))}
    >
      <p>A worker is the program that runs robots on a machine. It is linked with a token.</p>
      {group === undefined && choices.length > 0 ? (
        <SelectField
          label="What for"
          value={into}
          onValue={setInto}
          options={[
            { value: "", label: "One worker" },
            ...choices.map(({ id, name }) => ({ value: String(id), label: `Workers of the group ${name}` }))
          ]}
        />
      ) : null}
      {into === "" ? null : (
        <>
          <TextField
            label="Name of the token"
            hint="To know it again, such as the machines that it is for."
            value={name}
            onValue={setName}
            required
            maxLength={255}
            autocomplete="off"
          />
          <SelectField
            label="Can be used"
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
