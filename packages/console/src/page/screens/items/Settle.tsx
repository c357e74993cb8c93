/** What can be done with several failed items. */
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Problem } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import { several } from "../../words.ts"

export const Settle = ({ chosen, done }: { readonly chosen: ReadonlyArray<string>; readonly done: () => void }) => {
  const action = useAction()
  const [isAsking, setAsking] = useState(false)
  const settle = (operation: "retry" | "mark_as_done") =>
    call("POST", "work-items/batch", { body: { batch_operation: operation, work_item_ids: chosen } })
  return (
    <>
      <Button
        kind="primary"
        disabled={action.isBusy}
        onClick={() =>
          void action
            .run(() => settle("retry"), `${several(chosen.length, "item")} wait to be processed again.`)
            .then((isDone) => isDone && done())
        }
      >
        Retry
      </Button>
      <Button onClick={() => setAsking(true)}>Mark as done</Button>
      <Problem message={action.error} />
      {isAsking ? (
        <Confirm
          title={`Mark ${several(chosen.length, "item")} as done`}
          submit="Mark as done"
          done={`${several(chosen.length, "item")} marked as done.`}
          name={chosen.length > 100 ? String(chosen.length) : undefined}
          onSubmit={() => settle("mark_as_done").then(done)}
          onClose={() => setAsking(false)}
        >
          <p>Nothing works on them any more. This cannot be undone.</p>
        </Confirm>
      ) : null}
    </>
  )
}
