/** Makes or edits a trigger. */
import type { Trigger } from "@signalbox/api/contract/Triggers"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Head, Panel, Problem } from "../../kit/Basics.tsx"
import { CheckField, SelectField, TextField } from "../../kit/Field.tsx"
import { go, route, to } from "../../route.ts"
import { Edit, EditActions } from "../work/Edit.tsx"
import { useProcesses } from "../work/Filter.tsx"
import { definitionOf, draftOf, type TriggerDraft } from "./definition.ts"
import { newAddress } from "./newAddress.ts"

interface Part {
  readonly draft: TriggerDraft
  readonly set: (changes: Partial<TriggerDraft>) => void
}

const StartFields = ({ draft, set }: Part) => (
  <Panel title="Start runs">
    <p class="quiet">A run starts with all items that wait in the queue. Leave both fields empty to start none.</p>
    <div class="inline">
      <TextField
        label="When so many wait"
        type="number"
        min={1}
        value={draft.atLeast}
        onValue={(atLeast) => set({ atLeast })}
      />
      <TextField
        label="Or the oldest waited"
        hint="minutes"
        type="number"
        min={0.1}
        step="any"
        value={draft.oldestMinutes}
        onValue={(oldestMinutes) => set({ oldestMinutes })}
      />
      <TextField
        label="Runs at a time"
        type="number"
        min={1}
        value={draft.maxRuns}
        onValue={(maxRuns) => set({ maxRuns })}
      />
    </div>
  </Panel>
)

const SignatureFields = ({ draft, hasSecret, set }: Part & { readonly hasSecret: boolean }) => (
  <>
    <SelectField
      label="How requests are signed"
      value={draft.signature}
      onValue={(signature) => set({ signature })}
      options={[
        { value: "none", label: "not: anybody with the address can send" },
        { value: "hmac", label: "HMAC-SHA256 in a header (GitHub, Shopify and others)" },
        { value: "standard_webhooks", label: "Standard Webhooks" }
      ]}
    />
    {draft.signature === "none" ? null : (
      <div class="inline">
        <TextField
          label={hasSecret ? "New secret (optional)" : "Secret"}
          hint="the same as at the sender"
          type="password"
          autocomplete="new-password"
          value={draft.secret}
          onValue={(secret) => set({ secret })}
          required={!hasSecret}
        />
        {draft.signature === "hmac" ? (
          <>
            <TextField label="Header" value={draft.header} onValue={(header) => set({ header })} required />
            <TextField
              label="Before the signature"
              hint="such as sha256="
              value={draft.prefix}
              onValue={(prefix) => set({ prefix })}
            />
          </>
        ) : null}
      </div>
    )}
  </>
)

const AddressFields = ({ draft, hasSecret, set }: Part & { readonly hasSecret: boolean }) => (
  <Panel title="Take items from other systems">
    <CheckField
      label="It has an address; each request to it becomes an item"
      checked={draft.hasAddress}
      onChecked={(hasAddress) => set({ hasAddress })}
    />
    {draft.hasAddress ? (
      <>
        <SignatureFields draft={draft} hasSecret={hasSecret} set={set} />
        <div class="inline">
          <SelectField
            label="Same event told by"
            value={draft.eventId}
            onValue={(eventId) => set({ eventId })}
            options={[
              { value: "none", label: draft.signature === "standard_webhooks" ? "webhook-id" : "nothing" },
              { value: "header", label: "a header" },
              { value: "pointer", label: "a place in the body" }
            ]}
          />
          {draft.eventId === "none" ? null : (
            <TextField
              label={draft.eventId === "header" ? "Header of the event's id" : "Place of the event's id"}
              hint={draft.eventId === "header" ? "such as X-GitHub-Delivery" : "such as /order/id"}
              value={draft.eventIdAt}
              onValue={(eventIdAt) => set({ eventIdAt })}
              required
            />
          )}
          <SelectField<string>
            label="Handshake of the sender"
            value={draft.handshake}
            onValue={(handshake) => set({ handshake })}
            options={[
              { value: "", label: "none" },
              { value: "asana", label: "Asana" },
              { value: "slack", label: "Slack" },
              { value: "microsoft-graph", label: "Microsoft Graph" }
            ]}
          />
          <TextField
            label="Most items waiting"
            hint="more are refused"
            type="number"
            min={1}
            value={draft.maxWaiting}
            onValue={(maxWaiting) => set({ maxWaiting })}
          />
        </div>
      </>
    ) : null}
  </Panel>
)

const Form = ({ process, trigger }: { readonly trigger?: Trigger; readonly process: string }) => {
  const [draft, setDraft] = useState<TriggerDraft>(() => draftOf(trigger, process))
  const processes = useProcesses()
  const action = useAction()
  const set = (changes: Partial<TriggerDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const save = async () => {
    const path = trigger === undefined ? "triggers" : `triggers/${trigger.id}`
    const { id, url } = await call<{ readonly id: string; readonly url: string | null }>("POST", path, {
      body: definitionOf(draft, trigger)
    })
    if (url !== null) newAddress.value = { trigger: id, url }
    go(to(["triggers", id]))
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(save)
      }}
    >
      <Panel title="What">
        <TextField
          label="Name"
          value={draft.name}
          onValue={(name) => set({ name })}
          required
          maxLength={255}
          autocomplete="off"
        />
        <SelectField<string>
          label="Process"
          value={draft.process}
          onValue={(process) => set({ process })}
          options={[{ value: "", label: "Choose…" }, ...processes.map(({ id, name }) => ({ value: id, label: name }))]}
        />
        <CheckField label="It is on" checked={draft.enabled} onChecked={(enabled) => set({ enabled })} />
      </Panel>
      <AddressFields draft={draft} set={set} hasSecret={trigger?.webhook?.signature != null} />
      <StartFields draft={draft} set={set} />
      <Problem message={action.error} />
      <EditActions screen="triggers" id={trigger?.id} canSubmit={!action.isBusy && draft.process !== ""} />
    </form>
  )
}

export const NewTrigger = () => (
  <div class="readable">
    <Head title="Make a trigger" />
    <Form process={route.value.query["process"] ?? ""} />
  </div>
)

export const EditTrigger = ({ id }: { readonly id: string }) => (
  <div class="readable">
    <Edit<Trigger> path={`triggers/${id}`}>{(initial) => <Form trigger={initial} process="" />}</Edit>
  </div>
)
