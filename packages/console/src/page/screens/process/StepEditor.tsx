/** One step of a process, to type into. */
import type { TaskPackage, TaskPackageSummary } from "@signalbox/api/contract/TaskPackages"
import type { WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { Button } from "../../kit/Basics.tsx"
import { SelectField, TextField } from "../../kit/Field.tsx"
import { useResource } from "../../load.ts"
import type { StepDraft } from "./steps.ts"

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
  const set = (name: Exclude<keyof StepDraft, "key" | "before">) => (value: string) =>
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
  const which = step.name || step.task || `step ${index + 1}`
  return (
    <li class="panel step">
      <fieldset>
        <legend>Step {index + 1}</legend>
        <div class="inline">
          <SelectField<string>
            label="Where its task is"
            value={step.packageId}
            onValue={(packageId) => onChange({ ...step, packageId, task: "" })}
            options={[
              ...packages.map(({ id, name }) => ({ value: id, label: name })),
              { value: "", label: "in the workers themselves" }
            ]}
          />
          {tasks.length === 0 ? (
            <TextField
              label="Task"
              hint={
                step.packageId === ""
                  ? "Its name, as the workers know it"
                  : "The package has no tasks that are known; write the name"
              }
              value={step.task}
              onValue={set("task")}
              required
              autocomplete="off"
            />
          ) : (
            <SelectField<string>
              label="Task"
              value={step.task}
              onValue={set("task")}
              options={[{ value: "", label: "Choose…" }, ...tasks.map(({ name }) => ({ value: name, label: name }))]}
            />
          )}
          <TextField
            label="Name of the step"
            value={step.name}
            onValue={set("name")}
            placeholder={step.task}
            maxLength={255}
            autocomplete="off"
          />
          <SelectField<string>
            label="Runs on"
            value={step.group}
            onValue={set("group")}
            options={[
              { value: "", label: "any worker" },
              ...groups.map(({ id, name }) => ({ value: id, label: `workers of ${name}` }))
            ]}
          />
          {number("attempts", "Attempts", "1: not retried")}
        </div>
        <details>
          <summary>More about this step</summary>
          <div class="inline">
            {number("delay", "Seconds between attempts", "")}
            {number("parallel", "How many at a time", "")}
            {number("timeout", "Ended after (seconds)", "empty: no limit")}
            {number("pauseAfter", "Pauses itself after", "so many failures in a row; empty: not")}
          </div>
        </details>
        <div class="actions">
          <Button disabled={index === 0} aria-label={`Earlier: ${which}`} onClick={() => onMove(-1)}>
            Earlier
          </Button>
          <Button disabled={isLast} aria-label={`Later: ${which}`} onClick={() => onMove(1)}>
            Later
          </Button>
          <Button kind="danger" aria-label={`Remove ${which}`} onClick={onRemove}>
            Remove
          </Button>
        </div>
      </fieldset>
    </li>
  )
}
