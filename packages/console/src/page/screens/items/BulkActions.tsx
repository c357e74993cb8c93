/** What can be done with several failed items. */
import { useState } from "preact/hooks"
import { call, useAction } from "../../action.ts"
import { Button, Problem } from "../../kit/Basics.tsx"
import { Confirm } from "../../kit/Dialog.tsx"
import * as text from "../../text/text.ts"

export const BulkActions = ({
  chosen,
  done
}: {
  readonly chosen: ReadonlyArray<string>
  readonly done: () => void
}) => {
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
            .run(() => settle("retry"), text.items.queuedItems(chosen.length))
            .then((isDone) => isDone && done())
        }
      >
        {text.items.retry}
      </Button>
      <Button onClick={() => setAsking(true)}>{text.items.markAsDone}</Button>
      <Problem message={action.error} />
      {isAsking ? (
        <Confirm
          title={text.items.markItems(chosen.length)}
          submit={text.items.markAsDone}
          done={text.items.markedItems(chosen.length)}
          name={chosen.length > 100 ? String(chosen.length) : undefined}
          onSubmit={() => settle("mark_as_done").then(done)}
          onClose={() => setAsking(false)}
        >
          <p>{text.common.cannotUndo}</p>
        </Confirm>
      ) : null}
    </>
  )
}
