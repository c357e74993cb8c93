/** The steps of a process on a line: what each runs, where, how often, and whether it is paused. */
import type { Process, StepDefinition, StoredDefinition } from "@signalbox/api/contract/Processes"
import type { TaskPackageSummary } from "@signalbox/api/contract/TaskPackages"
import type { WorkerGroup } from "@signalbox/api/contract/WorkerGroups"
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import type { Page } from "../../api.ts"
import { Button, Problem, Time } from "../../kit/Basics.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import { duration } from "../../format.ts"
import { PauseDialog } from "../work/Pause.tsx"
import * as text from "../../text/text.ts"

type Names = (id: string) => string | undefined

const namesOf = (page: Page<{ readonly id: string; readonly name: string }> | undefined): Names => {
  const names = new Map(page?.data.map(({ id, name }) => [id, name]))
  return (id) => names.get(id)
}

/** The settings of a step that are not the usual ones, as short sentences. */
const settingsOf = (step: StepDefinition, group: Names): ReadonlyArray<string> => {
  const { max_parallel = 1, pause_after_failures, retry, start_after, timeout_seconds, worker, worker_group } = step
  const { task_package_version: version } = step
  return [
    ...(version == null ? [] : [text.processes.pinned(version)]),
    worker_group == null
      ? text.processes.settingAnyWorker
      : text.processes.settingGroup(group(worker_group.id) ?? text.processes.unknownGroup),
    ...(worker === undefined || worker.labels.length === 0
      ? []
      : [text.processes.settingLabels(worker.labels.join(", "))]),
    ...(max_parallel > 1 ? [text.processes.settingParallel(max_parallel)] : []),
    retry === undefined
      ? text.processes.noRetries
      : text.processes.settingAttempts(
          retry.max_attempts,
          retry.delay_seconds > 0 ? text.processes.apart(duration(retry.delay_seconds)) : ""
        ),
    ...(timeout_seconds === undefined ? [] : [text.processes.settingTimeout(duration(timeout_seconds))]),
    ...(start_after === "previous_step" ? [text.processes.afterPrevious] : []),
    ...(pause_after_failures === undefined ? [] : [text.processes.settingPause(pause_after_failures)])
  ]
}

export const Steps = ({
  definition,
  onChange,
  process
}: {
  readonly process: Process
  readonly definition: StoredDefinition
  readonly onChange: () => void
}) => {
  const group = namesOf(
    useResource<Page<WorkerGroup>>(may("Workers.read_workers") ? "worker-groups" : null, { limit: 500 }).data
  )
  const packages = namesOf(
    useResource<Page<TaskPackageSummary>>(may("Tasks.read_task_packages") ? "task-packages" : null, { limit: 500 }).data
  )
  const [pausing, setPausing] = useState<Process["steps"][number] | null>(null)
  const action = useAction()
  const mayPause = may("Processes.pause_processes")
  return (
    <>
      <Problem message={action.error} />
      <ol class="line" aria-label={text.runs.steps}>
        {process.steps.map((step) => {
          const defined = definition.steps.find(({ name }) => name === step.name)
          const { id, name, paused } = step
          const path = `processes/${process.id}/steps/${id}`
          const packageId = defined?.task.package_id
          return (
            <li key={id} class={`station ${paused === null ? "idle" : "late"}`}>
              <span class="lamp" aria-hidden="true" />
              <b>{name}</b>
              {defined === undefined ? null : (
                <>
                  <span class="quiet">
                    {packageId === undefined ? (
                      text.processes.taskOf(defined.task.name)
                    ) : (
                      <>
                        {text.processes.taskOfPackage(
                          defined.task.name,
                          <a href={to(["packages", packageId])}>
                            {packages(packageId) ?? text.processes.unknownPackage}
                          </a>
                        )}
                      </>
                    )}
                  </span>
                  <ul class="settings quiet">
                    {settingsOf(defined, group).map((setting) => (
                      <li key={setting}>{setting}</li>
                    ))}
                  </ul>
                </>
              )}
              {paused === null ? null : (
                <p class="state late">
                  {text.processes.pausedSince(
                    <Time at={paused.since} />,
                    paused.note === null ? "" : `: ${paused.note}`
                  )}
                </p>
              )}
              {may("Processes.read_work_items") ? (
                <p>
                  <a href={to(["items"], { process: process.id, step: id })}>
                    {text.processes.viewItems}
                    <span class="hidden">{text.processes.ofStep(name)}</span>
                  </a>
                </p>
              ) : null}
              {!mayPause || (paused !== null && !may("Processes.trigger_processes")) ? null : paused === null ? (
                <Button aria-label={text.processes.pauseStep(name)} onClick={() => setPausing(step)}>
                  {text.common.pause}
                </Button>
              ) : (
                <Button
                  aria-label={text.processes.resumeStep(name)}
                  onClick={() =>
                    void action.run(async () => {
                      await call("POST", `${path}/resume`)
                      onChange()
                    }, text.processes.stepResumed(name))
                  }
                >
                  {text.common.resume}
                </Button>
              )}
            </li>
          )
        })}
      </ol>
      {pausing === null ? null : (
        <PauseDialog
          what={text.processes.stepNamed(pausing.name)}
          path={`processes/${process.id}/steps/${pausing.id}`}
          effect={text.processes.pauseStepEffect}
          onDone={onChange}
          onClose={() => setPausing(null)}
        />
      )}
    </>
  )
}
