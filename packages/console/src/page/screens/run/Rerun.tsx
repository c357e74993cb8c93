/** Starts an ended run again, with the same inputs or with others. */
import type { ProcessRun } from "@signalbox/api/contract/ProcessRuns"
import { call, reasonOf, useAction } from "../../action.ts"
import { Button } from "../../kit/Basics.tsx"
import { go, to } from "../../route.ts"
import { say } from "../../state.ts"
import * as text from "../../text/text.ts"

export const Rerun = ({ run }: { readonly run: ProcessRun }) => {
  const action = useAction()
  const again = async () => {
    try {
      const { id } = await call<{ readonly id: string }>("POST", `process-runs/${run.id}/start-again`)
      say(text.runs.rerunDone)
      go(to(["runs", id]))
    } catch (error) {
      say(reasonOf(error), "failed")
    }
  }
  return (
    <>
      <a class="button" href={to(["processes", run.process.id, "start"])}>
        {text.runs.rerunWithChanges}
      </a>
      <Button disabled={action.isBusy} onClick={() => void action.run(again)}>
        {text.runs.rerun}
      </Button>
    </>
  )
}
