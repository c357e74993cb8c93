/** One step of a process, to type into. */
import type { TaskPackage, TaskPackageSummary } from "@signalbox/api/contract/TaskPackages"
import type { WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { Button } from "../../kit/Basics.tsx"
import { SelectField, TextField } from "../../kit/Field.tsx"
import { useResource } from "../../load.ts"
import { LimitsEditor } from "./LimitsEditor.tsx"
import type { StepDraft } from "./steps.ts"
import * as text from "../../text/text.ts"

export const StepEditor = ({
  groups,
  index,
  isLast,
  onChange,
  onMove,
  onRemove,
  packages,
  step
}: {
  readonly step: StepDraft
  readonly index: number
  readonly isLast: boolean
  readonly packages: ReadonlyArray<TaskPackageSummary>
  readonly groups: ReadonlyArray<WorkerGroup>
  readonly onChange: (step: StepDraft) => void
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}) => {
  const { data } = useResource<TaskPackage>(step.packageId === "" ? null : `task-packages/${step.packageId}`)
  const tasks = data?.tasks ?? []
  const set = (name: Exclude<keyof StepDraft, "key" | "before" | "limits">) => (value: string) =>
    onChange({ ...step, [name]: value })
  const number = (name: "attempts" | "delay" | "timeout" | "parallel" | "pauseAfter", label: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      type="number"
      min={name === "delay" ? 0 : 1}
      value={step[name]}
      onValue={set(name)}
    />
  )
  const which = step.name || step.task || text.processes.step(index + 1)
  return (
    <li class="panel step">
      <fieldset>
        <legend>{text.processes.stepTitle(index + 1)}</legend>
        <div class="inline">
          <SelectField<string>
            label={text.processes.taskPackage}
            value={step.packageId}
            onValue={(packageId) => onChange({ ...step, packageId, task: "" })}
            options={[
              ...packages.map(({ id, name }) => ({ value: id, label: name })),
              { value: "", label: text.processes.noPackage }
            ]}
          />
          {tasks.length === 0 ? (
            <TextField
              label={text.processes.task}
              hint={step.packageId === "" ? text.processes.taskOfWorkers : text.processes.unknownTasks}
              value={step.task}
              onValue={set("task")}
              required
              autocomplete="off"
            />
          ) : (
            <SelectField<string>
              label={text.processes.task}
              value={step.task}
              onValue={set("task")}
              options={[
                { value: "", label: text.common.select },
                ...tasks.map(({ name }) => ({ value: name, label: name }))
              ]}
            />
          )}
          <TextField
            label={text.processes.stepName}
            value={step.name}
            onValue={set("name")}
            placeholder={step.task}
            maxLength={255}
            autocomplete="off"
          />
          <SelectField<string>
            label={text.processes.runsOn}
            value={step.group}
            onValue={set("group")}
            options={[
              { value: "", label: text.processes.anyWorker },
              ...groups.map(({ id, name }) => ({ value: id, label: text.processes.group(name) }))
            ]}
          />
          {number("attempts", text.processes.attempts, text.processes.attemptsHint)}
        </div>
        <details>
          <summary>{text.processes.advanced}</summary>
          <div class="inline">
            {number("delay", text.processes.delay, "")}
            {number("parallel", text.processes.parallel, "")}
            {number("timeout", text.processes.timeout, text.processes.timeoutHint)}
            {number("pauseAfter", text.processes.pauseAfterStep, text.processes.pauseAfterStepHint)}
          </div>
          <LimitsEditor draft={step.limits} onChange={(limits) => onChange({ ...step, limits })} />
        </details>
        <div class="actions">
          <Button disabled={index === 0} aria-label={text.processes.moveUpOf(which)} onClick={() => onMove(-1)}>
            {text.processes.moveUp}
          </Button>
          <Button disabled={isLast} aria-label={text.processes.moveDownOf(which)} onClick={() => onMove(1)}>
            {text.processes.moveDown}
          </Button>
          <Button kind="danger" aria-label={text.common.removeOf(which)} onClick={onRemove}>
            {text.processes.removeStep}
          </Button>
        </div>
      </fieldset>
    </li>
  )
}
