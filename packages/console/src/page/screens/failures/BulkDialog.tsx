/** Asks before one operation is done to all items of a group of failures, and starts it as a job. */
import type { BulkFilter, BulkOperation, BulkOperationName } from "@signalbox/api/contract/BulkOperations"
import { useEffect, useState } from "preact/hooks"
import { call, reasonOf } from "../../action.ts"
import { Problem } from "../../kit/Basics.tsx"
import { Confirm, FormDialog } from "../../kit/Dialog.tsx"
import { count } from "../../format.ts"
import * as text from "../../text/text.ts"

export type Operation = Exclude<BulkOperationName, "start_again">

/** Above this many, a name has to be typed. */
const many = 100

interface Created {
  readonly total: number
  readonly bulk_operation: BulkOperation | null
}

const create = (operation: Operation, filter: BulkFilter, isDryRun: boolean) =>
  call<Created>("POST", "bulk-operations", { body: { operation, filter, dry_run: isDryRun } })

export const BulkDialog = ({
  filter,
  name,
  onClose,
  onStarted,
  operation,
  what
}: {
  readonly operation: Operation
  readonly filter: BulkFilter
  /** What has to be typed for many. */
  readonly name: string
  /** What these items have in common. */
  readonly what: string
  readonly onStarted: (job: BulkOperation) => void
  readonly onClose: () => void
}) => {
  const [found, setFound] = useState<{ readonly total: number | null; readonly error: string | null }>({
    total: null,
    error: null
  })
  useEffect(() => {
    create(operation, filter, true).then(
      ({ total }) => setFound({ total, error: null }),
      (error: unknown) => setFound({ total: null, error: reasonOf(error) })
    )
  }, [])
  const { effect, verb } = text.failures.operations[operation]
  const { error, total } = found
  const start = async () => {
    const { bulk_operation } = await create(operation, filter, false)
    if (bulk_operation !== null) onStarted(bulk_operation)
  }
  const title = total === null ? verb : text.failures.jobTitle(verb, text.failures.jobItems(total, false))
  const props = { title, onSubmit: start, onClose }
  const body = (
    <>
      <Problem message={error} />
      <p aria-live="polite">
        {total === null
          ? text.failures.counting
          : total === 0
            ? text.failures.nothingLeft
            : effect(<b>{text.failures.jobItems(total, false)}</b>)}
      </p>
      <p class="quiet">{what}</p>
    </>
  )
  if (total !== null && (total > many || operation === "delete")) {
    return (
      <Confirm {...props} submit={`${verb} ${count(total)}`} name={total > many ? name : undefined}>
        {body}
      </Confirm>
    )
  }
  return (
    <FormDialog
      {...props}
      submit={total === null || total === 0 ? verb : `${verb} ${count(total)}`}
      canSubmit={total !== null && total > 0}
    >
      {body}
    </FormDialog>
  )
}
