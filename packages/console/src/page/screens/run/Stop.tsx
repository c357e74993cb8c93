/** How a run is stopped: what is in progress is finished first, unless it is ended while the run stops. */
import { call, useAction } from "../../action.ts"
import { Button, Problem } from "../../kit/Basics.tsx"
import { Dialog } from "../../kit/Dialog.tsx"
import * as text from "../../text/text.ts"

interface Properties {
  readonly run: string
  /** Whether it was stopped before, and finishes what is in progress. */
  readonly isStopping: boolean
  readonly onClose: () => void
}

export const Stop = ({ isStopping, onClose, run }: Properties) => {
  const action = useAction()
  const stop = async (isDone: boolean) => {
    const body = { set_remaining_work_items_as_done: isDone, terminate_ongoing_activity_runs: isStopping }
    const isStopped = await action.run(
      () => call("POST", `process-runs/${run}/stop`, { body }),
      isStopping ? text.runs.terminated : text.runs.stopping
    )
    if (isStopped) onClose()
  }
  return isStopping ? (
    <Dialog title={text.runs.terminateTitle} onClose={onClose}>
      <Problem message={action.error} />
      <p>{text.runs.terminateHint}</p>
      <div class="actions">
        <Button onClick={onClose}>{text.common.cancel}</Button>
        <Button kind="danger" onClick={() => void stop(false)}>
          {text.runs.terminateTitle}
        </Button>
      </div>
    </Dialog>
  ) : (
    <Dialog title={text.runs.stopTitle} onClose={onClose}>
      <Problem message={action.error} />
      <p>{text.runs.stopHint}</p>
      <div class="actions">
        <Button onClick={onClose}>{text.common.cancel}</Button>
        <Button onClick={() => void stop(true)}>{text.runs.stopAndComplete}</Button>
        <Button kind="danger" onClick={() => void stop(false)}>
          {text.runs.stopAndFail}
        </Button>
      </div>
    </Dialog>
  )
}
