/** Makes or edits an alert: what it watches, whom it tells, and when it is quiet. */
import type { AlertChannel } from "@signalbox/api/contract/AlertChannels"
import type { Alert, AlertRuleType } from "@signalbox/api/contract/Alerts"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import type { Page } from "../../api.ts"
import { Empty, Head, Panel, Problem } from "../../kit/Basics.tsx"
import { CheckField, NameField, SelectField, TextField } from "../../kit/Field.tsx"
import { useResource } from "../../load.ts"
import { go, to } from "../../route.ts"
import { may } from "../../state.ts"
import { Edit, EditActions } from "../work/Edit.tsx"
import { HoursField } from "./Hours.tsx"
import { type AlertDraft, definitionOf, draftOf, limits, rules, type Subject } from "./rules.ts"
import * as text from "../../text/text.ts"

interface Part {
  readonly draft: AlertDraft
  readonly set: (changes: Partial<AlertDraft>) => void
}

interface Subjects {
  readonly label: string
  readonly all: string
  readonly path: string
  readonly permission: string
}

const subjects: Readonly<Record<Subject, Subjects>> = {
  process: {
    label: text.common.process,
    all: text.common.allProcesses,
    path: "processes",
    permission: "Processes.read_processes"
  },
  worker_group: {
    label: text.workers.group,
    all: text.alerts.allWorkers,
    path: "worker-groups",
    permission: "Workers.read_workers"
  },
  schedule: {
    label: text.schedules.schedule,
    all: text.alerts.allSchedules,
    path: "schedules",
    permission: "Schedules.read_schedules"
  },
  webhook: {
    label: text.webhooks.webhook,
    all: text.alerts.allWebhooks,
    path: "webhooks",
    permission: "Webhooks.read_webhooks"
  }
}

/** A webhook has an address in place of a name. */
type Named = { readonly id: string } & ({ readonly name: string } | { readonly endpoint: string })

const SubjectField = ({
  isRequired,
  onValue,
  subject,
  value
}: {
  readonly subject: Subject
  readonly isRequired: boolean
  readonly value: string
  readonly onValue: (id: string) => void
}) => {
  const { all, label, path, permission } = subjects[subject]
  const { data } = useResource<Page<Named>>(may(permission) ? path : null, { limit: 500 })
  const options = (data?.data ?? []).map((one) => ({ value: one.id, label: "name" in one ? one.name : one.endpoint }))
  const isMissing = value !== "" && !options.some((option) => option.value === value)
  return (
    <SelectField<string>
      label={label}
      value={value}
      onValue={onValue}
      options={[
        { value: "", label: isRequired ? text.common.select : all },
        ...options.toSorted((a, b) => a.label.localeCompare(b.label)),
        ...(isMissing ? [{ value, label: text.alerts.currentSubject }] : [])
      ]}
    />
  )
}

// Keys of an object literal are typed as plain strings.
const types = (Object.keys(rules) as ReadonlyArray<AlertRuleType>).map((value) => ({
  value,
  label: rules[value].label
}))

const RuleFields = ({ draft, set }: Part) => {
  const { areLimitsOptional = false, hasHours = false, isSubjectRequired = false, subject, ...rule } = rules[draft.type]
  return (
    <Panel title={text.alerts.rule}>
      <SelectField label={text.alerts.condition} value={draft.type} onValue={(type) => set({ type })} options={types} />
      {subject === undefined ? null : (
        <SubjectField
          key={subject}
          subject={subject}
          isRequired={isSubjectRequired}
          value={draft[subject]}
          onValue={(id) => set({ [subject]: id })}
        />
      )}
      {rule.limits.length === 0 ? null : (
        <div class="inline">
          {rule.limits.map((limit) => {
            const { label, hint, max } = limits[limit]
            const isMinutes = limit === "minutes" || limit === "growsMinutes"
            return (
              <TextField
                key={limit}
                label={label}
                hint={hint}
                type="number"
                min={isMinutes ? 0.1 : 1}
                step={isMinutes ? "any" : 1}
                max={max}
                value={draft[limit]}
                onValue={(value) => set({ [limit]: value })}
                required={!areLimitsOptional || (limit === "growsMinutes" && draft.growsItems !== "")}
              />
            )
          })}
        </div>
      )}
      {hasHours ? (
        <HoursField
          label={text.alerts.businessHours}
          hours={draft.hours}
          onHours={(hours) => set({ hours })}
          fresh={{ from: "08:00", to: "18:00" }}
        />
      ) : null}
    </Panel>
  )
}

const ChannelFields = ({ draft, set }: Part) => {
  const { data, error } = useResource<Page<AlertChannel>>("alert-channels", { limit: 500 })
  // A heartbeat is called all the time: no alert sends to it.
  const channels = data?.data.filter(({ type }) => type !== "heartbeat")
  return (
    <Panel title={text.alerts.notifications}>
      <Problem message={error} />
      {channels?.length === 0 ? (
        <Empty title={text.alerts.noChannels}>
          <a href={to(["alerts", "channels"])}>{text.alerts.newChannelHint}</a>
        </Empty>
      ) : (
        <fieldset>
          <legend>{text.alerts.channels}</legend>
          {channels?.map(({ id, name, target, type }) => (
            <CheckField
              key={id}
              label={name}
              hint={`${type}: ${target}`}
              checked={draft.channels.includes(id)}
              onChecked={(isOn) =>
                set({ channels: isOn ? [...draft.channels, id] : draft.channels.filter((one) => one !== id) })
              }
            />
          ))}
        </fieldset>
      )}
      <TextField
        label={text.alerts.repeatMinutes}
        hint={text.alerts.repeatHint}
        type="number"
        min={1}
        step="any"
        value={draft.repeatMinutes}
        onValue={(repeatMinutes) => set({ repeatMinutes })}
      />
      <TextField
        label={text.alerts.groupMinutes}
        hint={text.alerts.groupHint}
        type="number"
        min={0}
        step="any"
        value={draft.gatherMinutes}
        onValue={(gatherMinutes) => set({ gatherMinutes })}
      />
      <HoursField
        label={text.alerts.quietHours}
        hours={draft.quiet}
        onHours={(quiet) => set({ quiet })}
        fresh={{ from: "22:00", to: "06:00" }}
      />
    </Panel>
  )
}

const Form = ({ alert }: { readonly alert?: Alert }) => {
  const [draft, setDraft] = useState<AlertDraft>(() => draftOf(alert))
  const action = useAction()
  const set = (changes: Partial<AlertDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const { isSubjectRequired = false, subject } = rules[draft.type]
  const isComplete = draft.channels.length > 0 && !(isSubjectRequired && subject !== undefined && draft[subject] === "")
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(async () => {
          const path = alert === undefined ? "alerts" : `alerts/${alert.id}`
          const { id } = await call<Alert>("POST", path, { body: definitionOf(draft) })
          go(to(["alerts", id]))
        })
      }}
    >
      <Panel title={text.common.details}>
        <NameField value={draft.name} onValue={(name) => set({ name })} />
        <CheckField
          label={text.common.enabledField}
          checked={draft.enabled}
          onChecked={(enabled) => set({ enabled })}
        />
      </Panel>
      <RuleFields draft={draft} set={set} />
      <ChannelFields draft={draft} set={set} />
      <Problem message={action.error} />
      <EditActions
        screen="alerts"
        create={text.alerts.create}
        id={alert?.id}
        canSubmit={!action.isBusy && isComplete}
      />
    </form>
  )
}

export const NewAlert = () => (
  <div class="readable">
    <Head title={text.alerts.new} />
    <Form />
  </div>
)

export const EditAlert = ({ id }: { readonly id: string }) => (
  <div class="readable">
    <Edit<Alert> path={`alerts/${id}`}>{(initial) => <Form alert={initial} />}</Edit>
  </div>
)
