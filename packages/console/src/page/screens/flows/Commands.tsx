/** What is done with an execution: commands, which ask before they do it, and signals. */
import { useState } from "preact/hooks"
import { call, reasonOf } from "../../action.ts"
import { Button } from "../../kit/Basics.tsx"
import { Confirm, FormDialog } from "../../kit/Dialog.tsx"
import { AreaField, CheckField, TextField } from "../../kit/Field.tsx"
import { go, to } from "../../route.ts"
import { type Command, commandsOf, type Inspection } from "./executions.ts"
import * as text from "../../text/text.ts"

interface Props {
  readonly id: string
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Undos that failed can be done by hand, and are then left out. */
const ResumeDialog = ({ failed, id, onClose, onDone }: Props & { readonly failed: ReadonlyArray<string> }) => {
  const [skip, setSkip] = useState<ReadonlyArray<string>>([])
  const { done, effect } = text.flows.commands.resume
  return (
    <FormDialog
      title={text.flows.resumeTitle}
      submit={text.common.resume}
      done={done}
      onSubmit={() =>
        call("POST", `flow-executions/${id}/resume`, { body: skip.length === 0 ? {} : { skip } }).then(onDone)
      }
      onClose={onClose}
    >
      <p>{effect}</p>
      {failed.length === 0 ? null : <p>{text.flows.failedUndos}</p>}
      {failed.map((path) => (
        <CheckField
          key={path}
          label={path}
          checked={skip.includes(path)}
          onChecked={(checked) => setSkip(checked ? [...skip, path] : skip.filter((one) => one !== path))}
        />
      ))}
    </FormDialog>
  )
}

const plain = { retry: {}, suspend: undefined, cancel: undefined } as const

export const Commands = ({ inspection, onDone }: { readonly inspection: Inspection; readonly onDone: () => void }) => {
  const [asked, setAsked] = useState<Command | null>(null)
  const { cancelling, execution, pending = [], undos } = inspection
  const { id, state } = execution
  const isSuspending = pending.some(({ command }) => command === "suspend")
  const commands = commandsOf[state]
    // A suspend that waits for a step can be taken back.
    .map((command) => (command === "suspend" && isSuspending ? "resume" : command))
    .filter((command) => !cancelling || (command !== "cancel" && (command !== "suspend" || state === "undoing")))
  const close = () => setAsked(null)
  return (
    <>
      {commands.map((command) => (
        <Button
          key={command}
          {...(command === "cancel"
            ? { kind: "danger" as const }
            : command === "resume"
              ? { kind: "primary" as const }
              : {})}
          onClick={() => setAsked(command)}
        >
          {text.flows.commands[command].label}…
        </Button>
      ))}
      {asked === null ? null : asked === "resume" ? (
        <ResumeDialog
          id={id}
          failed={undos.filter(({ state }) => state === "failed").map(({ path }) => path)}
          onDone={onDone}
          onClose={close}
        />
      ) : (
        <Confirm
          title={text.flows.commandOf(text.flows.commands[asked].label, execution.flow, execution.key)}
          submit={text.flows.commands[asked].label}
          done={text.flows.commands[asked].done}
          onSubmit={() => call("POST", `flow-executions/${id}/${asked}`, { body: plain[asked] }).then(onDone)}
          onClose={close}
        >
          <p>{text.flows.commands[asked].effect}</p>
        </Confirm>
      )}
    </>
  )
}

export const RetryDialog = ({ from, id, onClose, onDone }: Props & { readonly from: string }) => (
  <Confirm
    title={text.flows.retryFrom(from)}
    submit={text.flows.retryFromHere}
    done={text.flows.commands.retry.done}
    onSubmit={() => call("POST", `flow-executions/${id}/retry`, { body: { from } }).then(onDone)}
    onClose={onClose}
  >
    <p>{text.flows.retryFromHint}</p>
  </Confirm>
)

export const ForkDialog = ({ from, id, onClose }: Pick<Props, "id" | "onClose"> & { readonly from: string }) => (
  <FormDialog
    title={text.flows.forkFrom(from)}
    submit={text.flows.forkFromHere}
    done={text.flows.forked}
    onSubmit={() =>
      call<{ readonly id: string }>("POST", `flow-executions/${id}/fork`, { body: { from } }).then((fork) =>
        go(to(["flows", fork.id]))
      )
    }
    onClose={onClose}
  >
    <p>{text.flows.forkFromHint}</p>
  </FormDialog>
)

/** Parses what was typed; the error says where it goes wrong. */
export const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new Error(text.flows.invalidValue(reasonOf(error)), { cause: error })
  }
}

/** `isInbox`: messages are told apart by an id, so that one that is sent again arrives once. */
export const SignalDialog = ({
  id,
  isInbox,
  onClose,
  onDone,
  signal
}: Props & { readonly signal: string; readonly isInbox: boolean }) => {
  const [value, setValue] = useState("")
  const [message, setMessage] = useState("")
  return (
    <FormDialog
      title={text.flows.send(signal)}
      submit={text.flows.sendSignal}
      done={text.flows.sent(signal)}
      canSubmit={value.trim() !== "" && (!isInbox || message.trim() !== "")}
      onSubmit={async () => {
        const body = { signal, value: parsed(value), id: isInbox ? message.trim() : undefined }
        await call("POST", `flow-executions/${id}/signals`, { body })
        onDone()
      }}
      onClose={onClose}
    >
      {isInbox ? (
        <TextField
          label={text.flows.messageId}
          hint={text.flows.messageIdHint}
          value={message}
          onValue={setMessage}
          autocomplete="off"
          required
        />
      ) : null}
      <AreaField
        label={text.flows.value}
        hint={text.flows.valueHint}
        value={value}
        onValue={setValue}
        rows={6}
        required
      />
    </FormDialog>
  )
}
