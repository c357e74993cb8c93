/** What a person sends to an execution that waits for it. */
import { Button } from "../../kit/Basics.tsx"
import { SignalDialog } from "./Commands.tsx"
import type { Activity } from "./executions.ts"
import { DecisionDialog, RequestDialog } from "./Requests.tsx"
import * as text from "../../text/text.ts"

/** Whether it waits for something that a person can send. */
export const takesValue = ({ kind }: Activity) => kind === "signal" || kind === "inbox"

/** What a person has begun to send. */
export interface Sending {
  readonly activity: Activity
  /** The decision on an approval; undefined for other values. */
  readonly approved?: boolean | undefined
}

export const Actions = ({
  activity,
  onSend
}: {
  readonly activity: Activity
  readonly onSend: (sending: Sending) => void
}) => {
  if (!takesValue(activity)) return null
  const name = activity.subject ?? activity.path
  if (activity.takes !== "approval") {
    const label = activity.takes === "request" ? text.flows.requestMore : text.flows.sendMore
    return <Button onClick={() => onSend({ activity })}>{label(name)}</Button>
  }
  return (
    <>
      <Button kind="primary" onClick={() => onSend({ activity, approved: true })}>
        {text.flows.approveMore}
        <span class="hidden">{text.flows.of(name)}</span>
      </Button>{" "}
      <Button onClick={() => onSend({ activity, approved: false })}>
        {text.flows.rejectMore}
        <span class="hidden">{text.flows.of(name)}</span>
      </Button>
    </>
  )
}

export const SendDialog = ({
  id,
  onClose,
  onDone,
  sending: { activity, approved }
}: {
  readonly id: string
  readonly sending: Sending
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const name = activity.subject ?? activity.path
  const props = { id, onDone, onClose }
  if (approved !== undefined) return <DecisionDialog {...props} request={name} approved={approved} />
  if (activity.takes === "request") return <RequestDialog {...props} request={name} />
  return <SignalDialog {...props} signal={name} isInbox={activity.kind === "inbox"} />
}
