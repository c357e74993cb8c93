/** Makes a webhook, or changes what it sends and where. */
import type { Webhook, WebhookEventType, WebhookListed } from "@signalbox/api/contract/Webhooks"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { FormDialog } from "../../kit/Dialog.tsx"
import { CheckField, SelectField, TextField } from "../../kit/Field.tsx"
import { go, to } from "../../route.ts"
import { useProcesses } from "../work/Filter.tsx"
import { newSecret } from "./newSecret.ts"
import { eventWords } from "./words.ts"

// Keys of an object literal are typed as plain strings.
const events = Object.keys(eventWords) as ReadonlyArray<WebhookEventType>

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
      title={webhook === undefined ? "Make a webhook" : "Change the webhook"}
      submit={webhook === undefined ? "Make it" : "Save"}
      done={webhook === undefined ? undefined : "The webhook is changed."}
      canSubmit={enabled.size > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Address"
        type="url"
        hint="Each event is sent there by POST, as JSON and signed."
        placeholder="https://example.com/hook"
        value={endpoint}
        onValue={setEndpoint}
        required
        autocomplete="off"
      />
      <SelectField<string>
        label="Of"
        value={process}
        onValue={setProcess}
        options={[
          { value: "", label: "all processes" },
          ...processes.map(({ id, name }) => ({ value: id, label: name }))
        ]}
      />
      <fieldset>
        <legend>It is told when</legend>
        {events.map((event) => (
          <CheckField
            key={event}
            label={eventWords[event]}
            checked={enabled.has(event)}
            onChecked={(isOn) => toggle(event, isOn)}
          />
        ))}
      </fieldset>
    </FormDialog>
  )
}
