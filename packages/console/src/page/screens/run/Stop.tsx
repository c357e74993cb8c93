/** How a run is stopped: what is in progress is finished first, unless it is ended while the run stops. */
import { call, useAction } from "../../action.ts"
import { Button, Problem } from "../../kit/Basics.tsx"
import { Confirm, Dialog } from "../../kit/Dialog.tsx"
import * as text from "../../text/text.ts"

interface Properties {
  readonly run: string
  readonly onClose: () => void
}

const stop = (run: string, isDone: boolean, isTerminated: boolean) =>
  call("POST", `process-runs/${run}/stop`, {
    body: { set_remaining_work_items_as_done: isDone, terminate_ongoing_activity_runs: isTerminated }
  })

const Finish = ({ onClose, run }: Properties) => {
  const action = useAction()
  const submit = async (isDone: boolean) => {
    if (await action.run(() => stop(run, isDone, false), text.runs.stopping)) onClose()
  }
  return (
    <Dialog title={text.runs.stopTitle} onClose={onClose}>
      <Problem message={action.error} />
      <p>{text.runs.stopHint}</p>
      <div class="actions">
        <Button onClick={onClose}>{text.common.cancel}</Button>
        <Button onClick={() => void submit(true)}>{text.runs.stopAndComplete}</Button>
        <Button kind="danger" onClick={() => void submit(false)}>
          {text.runs.stopAndFail}
        </Button>
      </div>
    </Dialog>
  )
}

export const Stop = ({
  isStopping,
  ...rest
}: Properties & {
  /** Whether it was stopped before, and finishes what is in progress. */
  readonly isStopping: boolean
}) =>
  isStopping ? (
    <Confirm
      title={text.runs.terminateTitle}
      submit={text.runs.terminateTitle}
      done={text.runs.terminated}
      onSubmit={() => stop(rest.run, false, true)}
      onClose={rest.onClose}
    >
      <p>{text.runs.terminateHint}</p>
    </Confirm>
  ) : (
    <Finish {...rest} />
  )
