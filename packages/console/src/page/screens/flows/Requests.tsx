/** What an execution answers: requests, and the decisions of people, which say whether they counted. */
import type { AnsweredJson } from "@signalbox/flows/FlowManagement"
import { useState } from "preact/hooks"
import { call } from "../../action.ts"
import { Button } from "../../kit/Basics.tsx"
import { Dialog, FormDialog } from "../../kit/Dialog.tsx"
import { AreaField, TextField } from "../../kit/Field.tsx"
import { parsed } from "./Commands.tsx"
import * as text from "../../text/text.ts"

interface Props {
  readonly id: string
  /** The name of the request with its key. */
  readonly request: string
  readonly onDone: () => void
  readonly onClose: () => void
}

/** How long a request of the page waits for its answer, in seconds. */
const wait = 10

const send = (id: string, request: string, input: unknown) =>
  call<AnsweredJson>("POST", `flow-executions/${encodeURIComponent(id)}/requests`, { body: { request, input, wait } })

const Answer = ({
  onClose,
  title,
  said,
  value
}: {
  readonly title: string
  readonly said: string
  readonly value: unknown
  readonly onClose: () => void
}) => (
  <Dialog title={title} onClose={onClose}>
    <p>{said}</p>
    {value === null ? null : <pre class="log">{JSON.stringify(value, null, 2)}</pre>}
    <div class="actions">
      <Button onClick={onClose}>{text.common.close}</Button>
    </div>
  </Dialog>
)

export const RequestDialog = ({ id, onClose, onDone, request }: Props) => {
  const [input, setInput] = useState("")
  const [answer, setAnswer] = useState<AnsweredJson | null>(null)
  return answer !== null ? (
    <Answer
      title={text.flows.answerOf(request)}
      said={text.flows.answers[answer.state]}
      value={answer.value}
      onClose={onClose}
    />
  ) : (
    <FormDialog
      title={text.flows.ask(request)}
      submit={text.flows.sendRequest}
      canSubmit={input.trim() !== ""}
      onSubmit={async () => {
        const answered = await send(id, request, parsed(input))
        onDone()
        return answered
      }}
      onDone={setAnswer}
      onClose={onClose}
    >
      <AreaField
        label={text.flows.value}
        hint={text.flows.inputHint}
        value={input}
        onValue={setInput}
        rows={6}
        required
      />
    </FormDialog>
  )
}

/** Whether a decision counted, as the answer to an approval says; null while that is not known. */
const countedIn = ({ state, value }: AnsweredJson): boolean | null =>
  state !== "answered"
    ? null
    : typeof value === "object" && value !== null && "counted" in value && value.counted === true

const outcomeOf = (answer: AnsweredJson) => {
  const counted = countedIn(answer)
  return counted === null ? text.flows.decisions.pending : text.flows.decisions[counted ? "counted" : "late"]
}

/** The decision goes by the name of who is signed in. */
export const DecisionDialog = ({ approved, id, onClose, onDone, request }: Props & { readonly approved: boolean }) => {
  const [comment, setComment] = useState("")
  const [answer, setAnswer] = useState<AnsweredJson | null>(null)
  const title = text.flows.decide[approved ? "approve" : "reject"](request)
  return answer !== null ? (
    <Answer title={title} said={outcomeOf(answer)} value={null} onClose={onClose} />
  ) : (
    <FormDialog
      title={title}
      submit={approved ? text.flows.approve : text.flows.reject}
      kind={approved ? "primary" : "danger"}
      onSubmit={async () => {
        const answered = await send(id, request, { approved, comment: comment.trim() === "" ? null : comment })
        onDone()
        return answered
      }}
      onDone={setAnswer}
      onClose={onClose}
    >
      <TextField label={text.flows.comment} hint={text.flows.commentHint} value={comment} onValue={setComment} />
    </FormDialog>
  )
}
