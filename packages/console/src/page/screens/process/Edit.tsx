/** Creates a process from the tasks of packages, or edits one. */
import type { Process, ProcessDefinition, StoredDefinition } from "@signalbox/api/contract/Processes"
import type { TaskPackage, TaskPackageSummary } from "@signalbox/api/contract/TaskPackages"
import type { WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import type { Body, Page } from "../../api.ts"
import { Button, Empty, Head, Panel, Problem } from "../../kit/Basics.tsx"
import { AreaField, NameField, TextField } from "../../kit/Field.tsx"
import { useResource } from "../../load.ts"
import { go, to } from "../../route.ts"
import { may } from "../../state.ts"
import { limitsDraftOf, limitsOf } from "./limits.ts"
import { LimitsEditor } from "./LimitsEditor.tsx"
import { PackageUpload } from "./PackageUpload.tsx"
import { StepEditor } from "./StepEditor.tsx"
import { definitionOf, draftOf, moved, type StepDraft } from "./steps.ts"
import * as text from "../../text/text.ts"

type Definition = typeof ProcessDefinition.Encoded

type DefinitionBody = Body<Omit<Definition, "steps">> & {
  readonly steps: ReadonlyArray<ReturnType<typeof definitionOf>>
}

const Editor = ({
  cancel,
  initial,
  save,
  submit
}: {
  readonly initial: Partial<Definition>
  readonly submit: string
  /** Where it leads without saving. */
  readonly cancel: string
  readonly save: (definition: DefinitionBody) => Promise<unknown>
}) => {
  const [name, setName] = useState(initial.name ?? "")
  const [description, setDescription] = useState(initial.description ?? "")
  const [pauseAfter, setPauseAfter] = useState(String(initial.pause_after_failures ?? ""))
  const [limits, setLimits] = useState(() => limitsDraftOf(initial))
  const [steps, setSteps] = useState<ReadonlyArray<StepDraft>>(() => (initial.steps ?? []).map(draftOf))
  const packages = useResource<Page<TaskPackageSummary>>(may("Tasks.read_task_packages") ? "task-packages" : null, {
    limit: 500
  })
  const groups = useResource<Page<WorkerGroup>>(may("Workers.read_workers") ? "worker-groups" : null, { limit: 500 })
  const action = useAction()
  const nextKey = Math.max(-1, ...steps.map(({ key }) => key)) + 1
  const add = (packageId: string, tasks: ReadonlyArray<string>) =>
    setSteps([
      ...steps,
      ...tasks.map((task, index) => ({ ...draftOf({}, nextKey + index), packageId, task, name: task }))
    ])
  const addEmpty = () => add(steps.at(-1)?.packageId ?? packages.data?.data[0]?.id ?? "", [""])
  const uploaded = ({ id, name: packageName, tasks }: TaskPackage) => {
    packages.reload()
    if (name === "") setName(packageName)
    add(id, tasks.length === 0 ? [""] : tasks.map(({ name }) => name))
  }
  const send = () => {
    const {
      concurrency: _concurrency,
      description: _description,
      pause_after_failures: _pause,
      rate: _rate,
      ...rest
    } = initial
    return save({
      ...rest,
      name: name.trim(),
      description: description.trim() || undefined,
      pause_after_failures: pauseAfter === "" ? undefined : Number(pauseAfter),
      ...limitsOf(limits),
      steps: steps.map(definitionOf)
    })
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void action.run(send)
      }}
    >
      {may("Tasks.write_task_packages") ? (
        <Panel title={text.processes.taskPackage}>
          <p class="quiet">{text.processes.packageHint(<code>robot.yaml</code>)}</p>
          <PackageUpload onUploaded={uploaded} />
        </Panel>
      ) : null}
      <ol class="plain steps" aria-label={text.runs.steps}>
        {steps.map((step, index) => (
          <StepEditor
            key={step.key}
            step={step}
            index={index}
            isLast={index === steps.length - 1}
            packages={packages.data?.data ?? []}
            groups={groups.data?.data ?? []}
            onChange={(changed) => setSteps(steps.map((one) => (one.key === step.key ? changed : one)))}
            onMove={(by) => setSteps(moved(steps, index, by))}
            onRemove={() => setSteps(steps.filter(({ key }) => key !== step.key))}
          />
        ))}
      </ol>
      {steps.length === 0 ? <Empty title={text.processes.noSteps}>{text.processes.noStepsHint}</Empty> : null}
      <p>
        <Button onClick={addEmpty}>{text.processes.addStep}</Button>
      </p>
      <Panel title={text.common.details}>
        <NameField value={name} onValue={setName} />
        <AreaField label={text.processes.description} value={description} onValue={setDescription} rows={2} />
        <TextField
          label={text.processes.pauseAfter}
          hint={text.processes.pauseAfterHint}
          type="number"
          min={1}
          max={1000}
          value={pauseAfter}
          onValue={setPauseAfter}
        />
        <LimitsEditor draft={limits} onChange={setLimits} />
      </Panel>
      <Problem message={action.error} />
      <div class="actions">
        <a class="button" href={cancel}>
          {text.common.cancel}
        </a>
        <Button type="submit" kind="primary" disabled={action.isBusy || steps.length === 0}>
          {submit}
        </Button>
      </div>
    </form>
  )
}

export const NewProcess = () => (
  <div class="readable">
    <Head title={text.processes.new}>{text.processes.newHint}</Head>
    <Editor
      initial={{}}
      submit={text.processes.create}
      cancel={to(["processes"])}
      save={async (definition) => {
        const { id } = await call<Process>("POST", "processes", { body: definition })
        go(to(["processes", id]))
      }}
    />
  </div>
)

/** The revision prevents overwriting a concurrent change. */
export const EditProcess = ({ id }: { readonly id: string }) => {
  const { data, error } = useResource<StoredDefinition>(`processes/${id}/definition`)
  // What was loaded first is edited; what is loaded later must not undo what was typed.
  const [initial, setInitial] = useState<StoredDefinition | null>(null)
  if (initial === null && data !== undefined) setInitial(data)
  return (
    <div class="readable">
      <Head title={initial === null ? text.common.edit : text.common.editOf(initial.name)}>
        {text.processes.editHint}
      </Head>
      <Problem message={error} />
      {initial === null ? null : (
        <Editor
          initial={initial}
          submit={text.common.save}
          cancel={to(["processes", id])}
          save={async (definition) => {
            await call("POST", `processes/${id}`, { body: definition })
            go(to(["processes", id]))
          }}
        />
      )}
    </div>
  )
}
