/** Makes a key: what it is for, what it may do, and the key itself, which is shown once. */
import type { Permission } from "@signalbox/api/contract/Authorization"
import type { ApiKey } from "@signalbox/api/contract/ApiKeys"
import { useRef, useState } from "preact/hooks"
import { call } from "../../action.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { CheckField, SelectField, TextField } from "../../kit/Field.tsx"
import { to } from "../../route.ts"
import { session } from "../../state.ts"
import { several } from "../../words.ts"
import { OnceDialog } from "../work/Once.tsx"
import { grouped, inWords, mayGive, presetOf, presets, within } from "./permissions.ts"

const capital = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

const Boxes = ({
  chosen,
  held,
  onChosen
}: {
  readonly chosen: ReadonlyArray<Permission>
  readonly held: ReadonlyArray<string>
  readonly onChosen: (chosen: ReadonlyArray<Permission>) => void
}) => (
  <>
    {grouped.map(([area, all]) => {
      const given = all.filter((permission) => mayGive(permission, held))
      return given.length === 0 ? null : (
        <fieldset key={area} class="boxes">
          <legend>{area}</legend>
          {given.map((permission) => (
            <CheckField
              key={permission}
              label={capital(inWords(permission))}
              checked={chosen.includes(permission)}
              onChecked={(isChecked) =>
                onChosen(isChecked ? [...chosen, permission] : chosen.filter((one) => one !== permission))
              }
            />
          ))}
        </fieldset>
      )
    })}
  </>
)

export const MakeKey = ({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) => {
  const held = session.value?.permissions ?? []
  const offered = presets.filter((preset) => within(preset, held).length > 0)
  const first = offered.find((preset) => within(preset, held).length === preset.permissions.length)
  const [name, setName] = useState("")
  const [set, setSet] = useState<string>(first?.value ?? "hand")
  const [chosen, setChosen] = useState<ReadonlyArray<Permission>>(first?.permissions ?? [])
  const made = useRef<string | null>(null)
  const [shown, setShown] = useState<string | null>(null)
  if (shown !== null) {
    return (
      <OnceDialog title={`The key ${name.trim()}`} value={shown} onClose={onClose}>
        <p>
          Store it where the program that needs it finds it. <b>It is shown only now.</b> How it is used is told at{" "}
          <a href={to(["connect"])} onClick={onClose}>
            Connect
          </a>
          .
        </p>
      </OnceDialog>
    )
  }
  const preset = offered.find(({ value }) => value === set)
  const missing = preset === undefined ? 0 : preset.permissions.length - within(preset, held).length
  const submit = async () => {
    // The page gets what is redacted in programs as text.
    const { key } = await call<ApiKey & { readonly key: string }>("POST", "api-keys", {
      body: { name: name.trim(), permissions: chosen }
    })
    made.current = key
    onDone()
  }
  return (
    <FormDialog
      title="Make a key"
      submit="Make the key"
      canSubmit={name.trim() !== "" && chosen.length > 0}
      onSubmit={submit}
      onClose={() => (made.current === null ? onClose() : setShown(made.current))}
    >
      <TextField
        label="Name"
        hint="The program or the person that it is for: each has a key of its own, so that one can be revoked."
        value={name}
        onValue={setName}
        required
        maxLength={255}
        autocomplete="off"
      />
      <SelectField
        label="What it may do"
        hint={
          preset === undefined
            ? "Exactly what is ticked below."
            : `${preset.hint}${missing === 0 ? "" : ` Your own key lacks ${several(missing, "permission")} of this, which the new one does not get.`}`
        }
        value={set}
        onValue={(value) => {
          setSet(value)
          const next = offered.find((one) => one.value === value)
          if (next !== undefined) setChosen(within(next, held))
        }}
        options={[
          ...offered.map(({ label, value }) => ({ label, value: String(value) })),
          { label: "By hand", value: "hand" }
        ]}
      />
      <details open={set === "hand"}>
        <summary>{several(chosen.length, "permission")}</summary>
        <Boxes
          chosen={chosen}
          held={held}
          onChosen={(next) => {
            setChosen(next)
            setSet(presetOf(next)?.value ?? "hand")
          }}
        />
      </details>
    </FormDialog>
  )
}
