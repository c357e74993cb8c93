/** Makes or edits a schedule; its next times are shown while it is written. */
import type { Schedule, ScheduleInputs, ScheduleTime } from "@signalbox/api/contract/Schedules"
import { useEffect, useState } from "preact/hooks"
import { call, reasonOf, useAction } from "../../action.ts"
import { Head, Panel, Problem } from "../../kit/Basics.tsx"
import { parse } from "../../exact.ts"
import { AreaField, CheckField, NameField, SelectField, TextField } from "../../kit/Field.tsx"
import { go, route, to } from "../../route.ts"
import { Edit, EditActions } from "../work/Edit.tsx"
import { useProcesses } from "../work/Filter.tsx"
import { misses, overlaps, weekdays } from "./choices.ts"
import { timesInWords } from "./inWords.ts"
import { NextTimes } from "./NextTimes.tsx"
import { type Kind, rulesOf, type When, whenOf, zones } from "./rules.ts"
import * as text from "../../text/text.ts"

const kinds: ReadonlyArray<{ readonly value: Kind; readonly label: string }> = [
  { value: "days", label: text.schedules.onDays },
  { value: "every", label: text.schedules.atInterval },
  { value: "at", label: text.schedules.once },
  { value: "cron", label: text.schedules.cron }
]

const inputKinds = [
  { value: "default", label: text.schedules.defaultItem },
  { value: "with_inputs", label: text.processes.waitingItems },
  { value: "with_payloads", label: text.schedules.customPayloads }
] as const

const WhenFields = ({ onWhen, when }: { readonly when: When; readonly onWhen: (when: When) => void }) => {
  const { at, cron, days, every, kind, time, zone } = when
  return (
    <>
      <SelectField
        label={text.schedules.recurrence}
        value={kind}
        onValue={(kind) => onWhen({ ...when, kind })}
        options={kinds}
      />
      {kind === "days" ? (
        <>
          <fieldset class="days">
            <legend>{text.schedules.days}</legend>
            {weekdays.map(({ label, value }) => (
              <CheckField
                key={value}
                label={label}
                checked={days.includes(value)}
                onChecked={(isOn) =>
                  onWhen({ ...when, days: isOn ? [...days, value] : days.filter((day) => day !== value) })
                }
              />
            ))}
          </fieldset>
          <TextField
            label={text.schedules.time}
            hint={text.schedules.timeHint}
            pattern="([01]?[0-9]|2[0-3]):[0-5][0-9]"
            value={time}
            onValue={(time) => onWhen({ ...when, time })}
            required
          />
        </>
      ) : kind === "every" ? (
        <TextField
          label={text.schedules.interval}
          hint={text.schedules.intervalHint}
          value={every}
          onValue={(every) => onWhen({ ...when, every })}
          required
        />
      ) : kind === "at" ? (
        <TextField
          label={text.schedules.startTime}
          hint={text.schedules.startTimeHint}
          type="datetime-local"
          value={at}
          onValue={(at) => onWhen({ ...when, at })}
          required
        />
      ) : (
        <TextField
          label={text.schedules.cron}
          hint={text.schedules.cronHint}
          value={cron}
          onValue={(cron) => onWhen({ ...when, cron })}
          autocomplete="off"
          required
        />
      )}
      {kind === "days" || kind === "cron" ? (
        <SelectField
          label={text.common.timeZone}
          value={zone}
          onValue={(zone) => onWhen({ ...when, zone })}
          options={[...new Set([zone, ...zones()])].map((zone) => ({ value: zone, label: zone }))}
        />
      ) : null}
    </>
  )
}

/** What the service makes of the rules, a moment after they were typed. */
const usePreview = (when: When) => {
  const rules = JSON.stringify(rulesOf(when))
  const [shown, setShown] = useState<{ readonly times: ReadonlyArray<ScheduleTime>; readonly error: string | null }>({
    times: [],
    error: null
  })
  useEffect(() => {
    const ended = new AbortController()
    const timer = setTimeout(() => {
      const body: unknown = JSON.parse(rules)
      call<{ readonly data: ReadonlyArray<ScheduleTime> }>("POST", "schedules/preview", {
        body,
        signal: ended.signal
      }).then(
        ({ data }) => setShown({ times: data, error: null }),
        (error: unknown) => {
          if (!ended.signal.aborted) setShown({ times: [], error: reasonOf(error) })
        }
      )
    }, 300)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [rules])
  return shown
}

const Preview = ({ when }: { readonly when: When }) => {
  const { error, times } = usePreview(when)
  const { at = null, cron = null, every = null, zone = "UTC" } = rulesOf(when)
  return (
    <Panel title={text.schedules.preview}>
      <div aria-live="polite">
        {error !== null ? (
          <p class="wrong">{error}</p>
        ) : (
          <>
            {at === "" ? null : (
              <p>
                <b>{timesInWords({ at, cron, every, zone })}</b>
              </p>
            )}
            <NextTimes times={times} />
          </>
        )}
      </div>
    </Panel>
  )
}

/** What a schedule has that this page does not edit. */
const restOf = (schedule: Schedule | undefined): object => {
  if (schedule === undefined) return {}
  const { calendar, from, jitter, queue, until } = schedule
  const isOfCalendar = calendar.dates.length + calendar.weekdays.length > 0
  return {
    jitter,
    queue,
    calendar: isOfCalendar ? calendar : undefined,
    from: from ?? undefined,
    until: until ?? undefined
  }
}

const Form = ({ process, schedule }: { readonly schedule?: Schedule; readonly process: string }) => {
  const [name, setName] = useState(schedule?.name ?? "")
  const [processId, setProcess] = useState<string>(schedule?.process.id ?? process)
  const [when, setWhen] = useState<When>(() => whenOf(schedule))
  const [kind, setKind] = useState<ScheduleInputs["type"]>(
    inputKinds.find(({ value }) => value === schedule?.inputs.type)?.value ?? "default"
  )
  const [payloads, setPayloads] = useState(() =>
    JSON.stringify(schedule !== undefined && "payloads" in schedule.inputs ? schedule.inputs.payloads : [{}], null, 2)
  )
  const [overlap, setOverlap] = useState<string>(schedule?.overlap ?? "skip")
  const [missed, setMissed] = useState<string>(schedule?.missed ?? "last")
  const processes = useProcesses()
  const action = useAction()
  const inputs = () => {
    if (kind !== "with_payloads") return { type: kind }
    try {
      const list = parse(payloads)
      return { type: kind, payloads: Array.isArray(list) ? list : [list] }
    } catch (error) {
      throw new Error(text.schedules.invalidPayloads(reasonOf(error)), { cause: error })
    }
  }
  const save = async () => {
    const { id } = await call<Schedule>("POST", schedule === undefined ? "schedules" : `schedules/${schedule.id}`, {
      body: {
        ...restOf(schedule),
        ...rulesOf(when),
        anchor: schedule?.anchor != null && when.kind === "every" ? schedule.anchor : undefined,
        name: name.trim(),
        process: { id: processId },
        inputs: inputs(),
        overlap,
        missed
      }
    })
    go(to(["schedules", id]))
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(save)
      }}
    >
      <div class="two">
        <div class="stack">
          <Panel title={text.common.details}>
            <NameField value={name} onValue={setName} />
            <SelectField<string>
              label={text.common.process}
              value={processId}
              onValue={setProcess}
              options={[
                { value: "", label: text.common.select },
                ...processes.map(({ id, name }) => ({ value: id, label: name }))
              ]}
            />
            <SelectField label={text.processes.input} value={kind} onValue={setKind} options={inputKinds} />
            {kind === "with_payloads" ? (
              <AreaField
                label={text.processes.payloads}
                hint={text.schedules.payloadsHint}
                value={payloads}
                onValue={setPayloads}
                rows={6}
              />
            ) : null}
          </Panel>
          <Panel title={text.schedules.times}>
            <WhenFields when={when} onWhen={setWhen} />
          </Panel>
          <Panel title={text.schedules.exceptions}>
            <SelectField<string>
              label={text.schedules.overlap}
              value={overlap}
              onValue={setOverlap}
              options={overlaps}
            />
            <SelectField<string> label={text.schedules.missed} value={missed} onValue={setMissed} options={misses} />
          </Panel>
        </div>
        <div class="stack">
          <Preview when={when} />
        </div>
      </div>
      <Problem message={action.error} />
      <EditActions
        screen="schedules"
        create={text.schedules.create}
        id={schedule?.id}
        canSubmit={!action.isBusy && processId !== ""}
      />
    </form>
  )
}

export const NewSchedule = () => (
  <>
    <Head title={text.schedules.new} />
    <Form process={route.value.query["process"] ?? ""} />
  </>
)

export const EditSchedule = ({ id }: { readonly id: string }) => (
  <Edit<Schedule> path={`schedules/${id}`}>{(initial) => <Form schedule={initial} process="" />}</Edit>
)
