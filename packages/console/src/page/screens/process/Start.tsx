/** Starts a run: from a form, from JSON, or with what waits; with files; now or at a time. */
import type { Process, StoredDefinition } from "@signalbox/api/contract/Processes"
import type { ProcessRun, Started } from "@signalbox/api/contract/ProcessRuns"
import type { UploadForm } from "@signalbox/api/contract/Files"
import type { WorkItem, WorkItemListed } from "@signalbox/api/contract/WorkItems"
import { useState } from "preact/hooks"
import { call, reasonOf, useAction } from "../../action.ts"
import type { Page } from "../../api.ts"
import { Button, Head, Panel, Problem } from "../../kit/Basics.tsx"
import { parse } from "../../exact.ts"
import { AreaField, SelectField, TextField } from "../../kit/Field.tsx"
import { useResource } from "../../load.ts"
import { go, to } from "../../route.ts"
import { may, say } from "../../state.ts"
import { sendForm } from "../../upload.ts"
import { exactly } from "../../format.ts"
import { FileDrop } from "../work/FileDrop.tsx"
import { assemble, type Drafts, draftsOf, fits, type FormField, formOf, type Json } from "./schema.ts"
import { SchemaForm } from "./SchemaForm.tsx"
import * as text from "../../text/text.ts"

type Mode = "form" | "json" | "many" | "queue"

const parsed = (json: string): Json => {
  try {
    // What it parses is JSON, in which a number may be kept as its text.
    return parse(json) as Json
  } catch (error) {
    throw new Error(text.common.invalidJson(reasonOf(error)), { cause: error })
  }
}

/** An input of the newest run, with its payload. */
const lastInput = async (process: Process) => {
  const runs = await call<Page<ProcessRun>>("GET", "process-runs", { query: { process_id: process.id, limit: 5 } })
  for (const { id } of runs.data) {
    const query = { process_run_id: id, include_data: true, limit: 100 }
    const items = await call<Page<WorkItemListed>>("GET", "work-items", { query })
    const input = items.data.find(({ step }) => step === null || step.id === process.steps[0]?.id)
    if (input?.payload !== undefined) return { payload: input.payload, masked: input.masked ?? [] }
  }
  return undefined
}

class Incomplete extends Error {}

const Form = ({ definition, process }: { readonly process: Process; readonly definition: StoredDefinition }) => {
  const fields: ReadonlyArray<FormField> | null = formOf(definition.input_schema)
  const initial = definition.default_work_item?.payload
  const hidden = definition.masked ?? []
  const fitting = fields !== null && initial !== undefined && fits(fields, initial) ? initial : undefined
  const [mode, setMode] = useState<Mode>(fields === null ? "json" : "form")
  const [drafts, setDrafts] = useState<Drafts>(() => draftsOf(fields ?? [], fitting))
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const [json, setJson] = useState(() => JSON.stringify(initial ?? {}, null, 2))
  const [files, setFiles] = useState<ReadonlyArray<File>>([])
  const [sent, setSent] = useState<Readonly<Record<string, number>>>({})
  const [priority, setPriority] = useState("0")
  const [at, setAt] = useState("")
  const action = useAction()
  const filling = useAction()
  const canAttach = may("Processes.write_work_items") && (mode === "form" || mode === "json")

  const chooseMode = (next: Mode) => {
    if (mode === "form" && next === "json" && fields !== null) {
      setJson(JSON.stringify(assemble(fields, drafts).value, null, 2))
    }
    setMode(next)
  }
  const fillIn = async () => {
    const input = await lastInput(process)
    if (input === undefined) throw new Error(text.processes.noLastInput)
    const { masked, payload } = input
    if (masked.length > 0) say(text.processes.secretsNotCopied)
    setJson(JSON.stringify(payload, null, 2))
    if (fields !== null && fits(fields, payload)) {
      setDrafts(draftsOf(fields, payload))
      setMode("form")
    } else setMode("json")
  }
  const payloads = (): ReadonlyArray<Json> => {
    if (mode === "form" && fields !== null) {
      const assembled = assemble(fields, drafts)
      setErrors(assembled.errors)
      if (Object.keys(assembled.errors).length > 0) throw new Incomplete(text.processes.incomplete)
      return [assembled.value]
    }
    const value = parsed(json)
    if (mode !== "many") return [value]
    if (!Array.isArray(value) || value.length === 0) throw new Error(text.processes.emptyList)
    return value
  }
  const startWith = (input: object) =>
    call<Started>("POST", `processes/${process.id}/process-runs`, { body: { ...input, priority: Number(priority) } })
  /** The item waits in the queue until its files are there. */
  const startWithFiles = async (payload: Json) => {
    const item = await call<WorkItem>("POST", "work-items", {
      body: { process: { id: process.id }, payload, priority: Number(priority) }
    })
    try {
      for (const file of files) {
        const { upload: form } = await call<{ readonly upload: UploadForm }>("POST", `work-items/${item.id}/files`, {
          body: { file_name: file.name, file_size: file.size }
        })
        await sendForm(form, file, (share) => setSent((before) => ({ ...before, [file.name]: share })))
      }
      return await startWith({ type: "with_work_item_ids", work_item_ids: [item.id] })
    } catch (error) {
      // Nobody meant it to wait in the queue.
      const body = { batch_operation: "delete", work_item_ids: [item.id] }
      await call("POST", "work-items/batch", { body }).catch(() => {})
      throw error
    }
  }
  const later = async () => {
    const time = new Date(at)
    await call("POST", "schedules", {
      body: {
        // Names are unique, and two runs may be wanted at the same minute.
        name: text.processes.scheduleName(
          process.name.slice(0, 200),
          time.toISOString().slice(0, 16).replace("T", " "),
          Date.now().toString(36).slice(-4)
        ),
        process: { id: process.id },
        at: time.toISOString(),
        inputs: mode === "queue" ? { type: "with_inputs" } : { type: "with_payloads", payloads: payloads() }
      }
    })
    say(text.processes.scheduled(exactly(time.toISOString())))
    go(to(["processes", process.id]))
  }
  const start = async () => {
    if (at !== "") return later()
    const values = mode === "queue" ? [] : payloads()
    const [first] = values
    // What is hidden of the default is in the run only when the service takes it itself.
    const isDefault = hidden.length > 0 && values.length === 1 && JSON.stringify(first) === JSON.stringify(initial)
    const started =
      canAttach && files.length > 0 && first !== undefined
        ? await startWithFiles(first)
        : await startWith(
            mode === "queue" ? { type: "with_inputs" } : isDefault ? {} : { type: "with_payloads", payloads: values }
          )
    if (!started.started) throw new Error(text.processes.emptyQueueError)
    go(to(["runs", started.id]))
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(start).then((isDone) => {
          if (isDone) return
          setSent({})
          // Once the errors are shown.
          setTimeout(() => document.querySelector<HTMLElement>("main [aria-invalid=true]")?.focus())
        })
      }}
    >
      <Panel title={text.processes.input}>
        <div class="inline">
          <SelectField<Mode>
            label={text.processes.inputType}
            value={mode}
            onValue={chooseMode}
            options={[
              ...(fields === null ? [] : [{ value: "form" as const, label: text.processes.oneForm }]),
              { value: "json", label: text.processes.oneJson },
              { value: "many", label: text.processes.severalJson },
              { value: "queue", label: text.processes.waitingItems }
            ]}
          />
          {may("Processes.read_work_items") && may("Processes.read_runs") && mode !== "queue" ? (
            <Button disabled={filling.isBusy} onClick={() => void filling.run(fillIn)}>
              {text.processes.useLastInput}
            </Button>
          ) : null}
        </div>
        {hidden.length === 0 || mode === "queue" ? null : <p class="quiet">{text.processes.secretDefaults}</p>}
        {mode === "form" && fields !== null ? (
          <SchemaForm
            fields={fields}
            drafts={drafts}
            errors={errors}
            onDraft={(path, draft) => setDrafts((before) => ({ ...before, [path]: draft }))}
          />
        ) : mode === "queue" ? (
          <p class="quiet">{text.processes.queueHint}</p>
        ) : (
          <AreaField
            label={mode === "many" ? text.processes.payloads : text.processes.payload}
            value={json}
            onValue={setJson}
            rows={10}
          />
        )}
        {canAttach && at === "" ? (
          <FileDrop label={text.items.addFiles} files={files} onFiles={setFiles} sent={sent} />
        ) : null}
      </Panel>
      <Panel title={text.processes.priorityAndTime}>
        <div class="inline">
          <TextField
            label={text.processes.priority}
            hint={text.processes.priorityHint}
            type="number"
            min={-100}
            max={100}
            step={1}
            value={priority}
            onValue={setPriority}
          />
          {may("Schedules.write_schedules", "Processes.trigger_processes") ? (
            <TextField
              label={text.processes.startTime}
              hint={text.processes.startTimeHint(Intl.DateTimeFormat().resolvedOptions().timeZone)}
              type="datetime-local"
              value={at}
              onValue={setAt}
            />
          ) : null}
        </div>
      </Panel>
      <Problem message={action.error ?? filling.error} />
      <div class="actions">
        <a class="button" href={to(["processes", process.id])}>
          {text.common.cancel}
        </a>
        <Button type="submit" kind="primary" disabled={action.isBusy}>
          {at === "" ? text.overview.startRun : text.processes.scheduleRun}
        </Button>
      </div>
    </form>
  )
}

export const Start = ({ id }: { readonly id: string }) => {
  const process = useResource<Process>(`processes/${id}`)
  const definition = useResource<StoredDefinition>(`processes/${id}/definition`)
  return (
    <div class="readable">
      <Head title={process.data === undefined ? text.overview.startRun : text.processes.start(process.data.name)} />
      <Problem message={process.error ?? definition.error} />
      {process.data?.paused == null ? null : <p class="notice late">{text.processes.pausedHint}</p>}
      {process.data === undefined || definition.data === undefined ? null : (
        <Form process={process.data} definition={definition.data} />
      )}
    </div>
  )
}
