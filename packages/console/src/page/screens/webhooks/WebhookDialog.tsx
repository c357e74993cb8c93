/** Makes a webhook, or changes what it sends and where. */
import type { Webhook, WebhookEventType, WebhookListed } from "@signalbox/api/contract/Webhooks"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { CheckField, SelectField, TextField } from "../../kit/Field.tsx"
import { go, to } from "../../route.ts"
import { useProcesses } from "../work/Filter.tsx"
import { newSecret } from "./newSecret.ts"
import { names } from "../../text/names.ts"
import * as text from "../../text/text.ts"

// Keys of an object literal are typed as plain strings.
const events = Object.keys(text.webhooks.events) as ReadonlyArray<WebhookEventType>

export const WebhookDialog = ({
  onClose,
  onDone,
  webhook
}: {
  /** Undefined: a new one. */
  readonly webhook?: WebhookListed
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const [endpoint, setEndpoint] = useState(webhook?.endpoint ?? "")
  const [process, setProcess] = useState<string>(webhook?.process?.id ?? "")
  const [enabled, setEnabled] = useState<ReadonlySet<string>>(
    new Set(webhook?.enabled_events ?? ["process_run.completed", "process_run.unresolved"])
  )
  const processes = useProcesses()
  const toggle = (event: string, isOn: boolean) => {
    const next = new Set(enabled)
    if (isOn) next.add(event)
    else next.delete(event)
    setEnabled(next)
  }
  const submit = async () => {
    const body = {
      endpoint: endpoint.trim(),
      enabled_events: events.filter((event) => enabled.has(event)),
      process: process === "" ? null : { id: process }
    }
    if (webhook === undefined) {
      const { id, secret } = await call<typeof Webhook.Encoded>("POST", "webhooks", { body })
      newSecret.value = { webhook: id, secret }
      go(to(["webhooks", id]))
    } else await call("POST", `webhooks/${webhook.id}`, { body })
    onDone()
  }
  return (
    <FormDialog
      title={webhook === undefined ? text.webhooks.new : text.webhooks.editTitle}
      submit={webhook === undefined ? text.webhooks.create : text.common.save}
      done={webhook === undefined ? undefined : text.webhooks.updated}
      canSubmit={enabled.size > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={text.webhooks.url}
        type="url"
        hint={text.webhooks.urlHint}
        placeholder={names.exampleUrl}
        value={endpoint}
        onValue={setEndpoint}
        required
        autocomplete="off"
      />
      <SelectField<string>
        label={text.common.process}
        value={process}
        onValue={setProcess}
        options={[
          { value: "", label: text.webhooks.allProcesses },
          ...processes.map(({ id, name }) => ({ value: id, label: name }))
        ]}
      />
      <fieldset>
        <legend>{text.common.events}</legend>
        {events.map((event) => (
          <CheckField
            key={event}
            label={text.webhooks.events[event]}
            checked={enabled.has(event)}
            onChecked={(isOn) => toggle(event, isOn)}
          />
        ))}
      </fieldset>
    </FormDialog>
  )
}
