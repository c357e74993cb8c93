/** How a run is stopped: what is in progress is finished first, unless it is ended while the run stops. */
import { call, useAction } from "../../action.ts"
import { Button, Problem } from "../../kit/Basics.tsx"
import { Dialog } from "../../kit/Dialog.tsx"

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
      isStopping ? "What is in progress is ended." : "The run stops; what is in progress is finished first."
    )
    if (isStopped) onClose()
  }
  return isStopping ? (
    <Dialog title="End this run now" onClose={onClose}>
      <Problem message={action.error} />
      <p>Robots that still work are ended. Their items fail, and can be retried.</p>
      <div class="actions">
        <Button onClick={onClose}>Let them finish</Button>
        <Button kind="danger" onClick={() => void stop(false)}>
          End it now
        </Button>
      </div>
    </Dialog>
  ) : (
    <Dialog title="Stop this run" onClose={onClose}>
      <Problem message={action.error} />
      <p>Items that are in progress are finished. What shall become of those that wait?</p>
      <div class="actions">
        <Button onClick={onClose}>Go on running</Button>
        <Button onClick={() => void stop(true)}>Stop, mark them as done</Button>
        <Button kind="danger" onClick={() => void stop(false)}>
          Stop, fail them
        </Button>
      </div>
    </Dialog>
  )
}
