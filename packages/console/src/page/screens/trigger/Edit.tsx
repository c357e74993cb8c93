/** Makes or edits a trigger. */
import type { Trigger } from "@signalbox/api/contract/Triggers"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Head, Panel, Problem } from "../../kit/Basics.tsx"
import { CheckField, NameField, SelectField, TextField } from "../../kit/Field.tsx"
import { go, route, to } from "../../route.ts"
import { Edit, EditActions } from "../work/Edit.tsx"
import { useProcesses } from "../work/Filter.tsx"
import { definitionOf, draftOf, type TriggerDraft } from "./definition.ts"
import { newAddress } from "./newAddress.ts"
import { names } from "../../text/names.ts"
import * as text from "../../text/text.ts"

interface Part {
  readonly draft: TriggerDraft
  readonly set: (changes: Partial<TriggerDraft>) => void
}

const StartFields = ({ draft, set }: Part) => (
  <Panel title={text.triggers.startCondition}>
    <p class="quiet">{text.triggers.startHint}</p>
    <div class="inline">
      <TextField
        label={text.triggers.waitingItems}
        type="number"
        min={1}
        value={draft.atLeast}
        onValue={(atLeast) => set({ atLeast })}
      />
      <TextField
        label={text.triggers.oldestItem}
        type="number"
        min={0.1}
        step="any"
        value={draft.oldestMinutes}
        onValue={(oldestMinutes) => set({ oldestMinutes })}
      />
      <TextField
        label={text.triggers.concurrentRuns}
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
      label={text.triggers.signature}
      value={draft.signature}
      onValue={(signature) => set({ signature })}
      options={[
        { value: "none", label: text.triggers.signatureNone },
        { value: "hmac", label: text.triggers.signatureHmac },
        { value: "standard_webhooks", label: names.standardWebhooks }
      ]}
    />
    {draft.signature === "none" ? null : (
      <div class="inline">
        <TextField
          label={hasSecret ? text.triggers.newSecret : text.common.secret}
          hint={text.triggers.secretHint}
          type="password"
          autocomplete="new-password"
          value={draft.secret}
          onValue={(secret) => set({ secret })}
          required={!hasSecret}
        />
        {draft.signature === "hmac" ? (
          <>
            <TextField
              label={text.triggers.header}
              value={draft.header}
              onValue={(header) => set({ header })}
              required
            />
            <TextField
              label={text.triggers.prefix}
              hint={text.triggers.prefixHint}
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
  <Panel title={text.triggers.incoming}>
    <CheckField
      label={text.triggers.incomingEnabled}
      checked={draft.hasAddress}
      onChecked={(hasAddress) => set({ hasAddress })}
    />
    {draft.hasAddress ? (
      <>
        <SignatureFields draft={draft} hasSecret={hasSecret} set={set} />
        <div class="inline">
          <SelectField
            label={text.triggers.eventId}
            value={draft.eventId}
            onValue={(eventId) => set({ eventId })}
            options={[
              {
                value: "none",
                label: draft.signature === "standard_webhooks" ? names.webhookId : text.triggers.eventIdNone
              },
              { value: "header", label: text.triggers.eventIdHeader },
              { value: "pointer", label: text.triggers.eventIdPointer }
            ]}
          />
          {draft.eventId === "none" ? null : (
            <TextField
              label={draft.eventId === "header" ? text.triggers.headerName : text.triggers.pointer}
              hint={draft.eventId === "header" ? text.triggers.headerHint : text.triggers.pointerHint}
              value={draft.eventIdAt}
              onValue={(eventIdAt) => set({ eventIdAt })}
              required
            />
          )}
          <SelectField<string>
            label={text.triggers.senderHandshake}
            value={draft.handshake}
            onValue={(handshake) => set({ handshake })}
            options={[
              { value: "", label: text.triggers.handshakeNone },
              { value: "asana", label: names.asana },
              { value: "slack", label: names.slack },
              { value: "microsoft-graph", label: names.graph }
            ]}
          />
          <TextField
            label={text.triggers.maxWaiting}
            hint={text.triggers.maxWaitingHint}
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
      <Panel title={text.common.details}>
        <NameField value={draft.name} onValue={(name) => set({ name })} />
        <SelectField<string>
          label={text.common.process}
          value={draft.process}
          onValue={(process) => set({ process })}
          options={[
            { value: "", label: text.common.select },
            ...processes.map(({ id, name }) => ({ value: id, label: name }))
          ]}
        />
        <CheckField
          label={text.common.enabledField}
          checked={draft.enabled}
          onChecked={(enabled) => set({ enabled })}
        />
      </Panel>
      <AddressFields draft={draft} set={set} hasSecret={trigger?.webhook?.signature != null} />
      <StartFields draft={draft} set={set} />
      <Problem message={action.error} />
      <EditActions
        screen="triggers"
        create={text.triggers.create}
        id={trigger?.id}
        canSubmit={!action.isBusy && draft.process !== ""}
      />
    </form>
  )
}

export const NewTrigger = () => (
  <div class="readable">
    <Head title={text.triggers.new} />
    <Form process={route.value.query["process"] ?? ""} />
  </div>
)

export const EditTrigger = ({ id }: { readonly id: string }) => (
  <div class="readable">
    <Edit<Trigger> path={`triggers/${id}`}>{(initial) => <Form trigger={initial} process="" />}</Edit>
  </div>
)
