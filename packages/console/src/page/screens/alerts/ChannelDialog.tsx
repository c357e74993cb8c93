/** Makes or changes a channel, with the fields of its type. */
import type { AlertChannel, AlertChannelCreated, AlertChannelType } from "@signalbox/api/contract/AlertChannels"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { AreaField, CheckField, NameField, SelectField, TextField } from "../../kit/Field.tsx"
import { may } from "../../state.ts"
import { type ChannelDraft, definitionOf, draftOf, hasPassword, types } from "./channel.ts"
import { names } from "../../text/names.ts"
import * as text from "../../text/text.ts"

interface Part {
  readonly draft: ChannelDraft
  readonly set: (changes: Partial<ChannelDraft>) => void
  readonly isNew: boolean
}

// Keys of an object literal are typed as plain strings.
const options = (Object.keys(types) as ReadonlyArray<AlertChannelType>).map((value) => ({
  value,
  label: types[value].label
}))

const Password = ({ draft, isNew, set }: Part) => (
  <>
    {may("Vault.read_secret_values") || draft.isFromVault ? (
      <CheckField
        label={text.alerts.passwordFromVault}
        checked={draft.isFromVault}
        onChecked={(isFromVault) => set({ isFromVault })}
      />
    ) : null}
    {draft.isFromVault ? (
      <div class="inline">
        <TextField label={text.common.secret} value={draft.secret} onValue={(secret) => set({ secret })} required />
        <TextField label={text.common.key} value={draft.item} onValue={(item) => set({ item })} required />
      </div>
    ) : (
      <TextField
        label={text.alerts.password}
        hint={isNew ? undefined : text.alerts.passwordHint}
        type="password"
        autocomplete="new-password"
        value={draft.password}
        onValue={(password) => set({ password })}
      />
    )}
  </>
)

const MailFields = (part: Part) => {
  const { draft, set } = part
  return (
    <>
      <div class="inline">
        <TextField
          label={text.alerts.mailServer}
          placeholder={names.exampleMailServer}
          value={draft.host}
          onValue={(host) => set({ host })}
          required
        />
        <TextField
          label={text.alerts.port}
          type="number"
          min={1}
          max={65_535}
          value={draft.port}
          onValue={(port) => set({ port })}
          required
        />
      </div>
      <SelectField<string>
        label={text.alerts.encryption}
        value={draft.security}
        onValue={(security) => set({ security })}
        options={[
          { value: "starttls", label: names.starttls },
          { value: "tls", label: names.tls },
          { value: "none", label: text.alerts.noEncryption }
        ]}
      />
      <TextField label={text.alerts.from} type="email" value={draft.from} onValue={(from) => set({ from })} required />
      <TextField
        label={text.alerts.to}
        hint={text.alerts.toHint}
        value={draft.to}
        onValue={(to) => set({ to })}
        required
      />
      <TextField
        label={text.alerts.userName}
        value={draft.username}
        onValue={(username) => set({ username })}
        maxLength={255}
        autocomplete="off"
      />
      {hasPassword(draft) ? <Password {...part} /> : null}
      <details>
        <summary>{text.alerts.customCertificate}</summary>
        <AreaField
          label={text.alerts.certificate}
          hint={part.isNew ? undefined : text.alerts.certificateHint}
          rows={4}
          value={draft.ca}
          onValue={(ca) => set({ ca })}
        />
      </details>
    </>
  )
}

const AddressFields = ({ draft, isNew, set }: Part) => {
  const { address, hint, isSecret } = types[draft.type]
  return (
    <>
      <TextField
        label={address ?? text.webhooks.url}
        hint={isSecret && !isNew ? text.alerts.enterAgain(hint) : hint}
        type={isSecret ? "password" : "url"}
        autocomplete={isSecret ? "new-password" : "off"}
        value={draft.url}
        onValue={(url) => set({ url })}
        required
      />
      {draft.type === "ntfy" ? (
        <TextField
          label={text.alerts.token}
          hint={text.alerts.tokenHint}
          type="password"
          autocomplete="new-password"
          value={draft.token}
          onValue={(token) => set({ token })}
        />
      ) : null}
    </>
  )
}

export const ChannelDialog = ({
  channel,
  onClose,
  onDone
}: {
  /** Undefined: a new one. */
  readonly channel?: AlertChannel
  /** `secret`: that of a webhook which was just made. */
  readonly onDone: (secret: string | null) => void
  readonly onClose: () => void
}) => {
  const isNew = channel === undefined
  const [draft, setDraft] = useState<ChannelDraft>(() => draftOf(channel))
  const set = (changes: Partial<ChannelDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const part = { draft, isNew, set }
  return (
    <FormDialog
      title={isNew ? text.alerts.newChannel : text.common.editOf(channel.name)}
      submit={isNew ? text.alerts.createChannel : text.common.save}
      done={isNew ? text.alerts.channelCreated : text.alerts.channelUpdated}
      onSubmit={async () => {
        const path = isNew ? "alert-channels" : `alert-channels/${channel.id}`
        const { secret } = await call<typeof AlertChannelCreated.Encoded>("POST", path, { body: definitionOf(draft) })
        onDone(secret)
      }}
      onClose={onClose}
    >
      <NameField value={draft.name} onValue={(name) => set({ name })} />
      {isNew ? (
        <SelectField
          label={text.common.type}
          value={draft.type}
          onValue={(type) => set({ type, url: "" })}
          options={options}
        />
      ) : null}
      {draft.type === "email" ? <MailFields {...part} /> : <AddressFields {...part} />}
    </FormDialog>
  )
}
