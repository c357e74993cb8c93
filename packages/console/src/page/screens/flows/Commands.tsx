/** What is done with an execution: commands, which ask before they do it, and signals. */
import { useState } from "preact/hooks"
import { call, reasonOf } from "../../action.ts"
import { Button } from "../../kit/Basics.tsx"
import { Confirm, FormDialog } from "../../kit/Dialog.tsx"
import { AreaField, CheckField, TextField } from "../../kit/Field.tsx"
import { type Command, commandsOf, type Inspection, wordsOf } from "./words.ts"

interface Props {
  readonly id: string
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Undos that failed can be done by hand, and are then left out. */
const ResumeDialog = ({ failed, id, onClose, onDone }: Props & { readonly failed: ReadonlyArray<string> }) => {
  const [skip, setSkip] = useState<ReadonlyArray<string>>([])
  const { done, effect } = wordsOf.resume
  return (
    <FormDialog
      title="Resume this execution"
      submit="Resume"
      done={done}
      onSubmit={() =>
        call("POST", `flow-executions/${id}/resume`, { body: skip.length === 0 ? {} : { skip } }).then(onDone)
      }
      onClose={onClose}
    >
      <p>{effect}</p>
      {failed.length === 0 ? null : (
        <p>These could not be undone, and are tried again. Check what you have undone by hand:</p>
      )}
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
          {wordsOf[command].label}…
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
          title={`${wordsOf[asked].label}: ${execution.flow} ${execution.key}`}
          submit={wordsOf[asked].label}
          done={wordsOf[asked].done}
          onSubmit={() => call("POST", `flow-executions/${id}/${asked}`, { body: plain[asked] }).then(onDone)}
          onClose={close}
        >
          <p>{wordsOf[asked].effect}</p>
        </Confirm>
      )}
    </>
  )
}

export const RetryDialog = ({ from, id, onClose, onDone }: Props & { readonly from: string }) => (
  <Confirm
    title={`Retry from ${from}`}
    submit="Retry from here"
    done={wordsOf.retry.done}
    onSubmit={() => call("POST", `flow-executions/${id}/retry`, { body: { from } }).then(onDone)}
    onClose={onClose}
  >
    <p>This step is repeated, and every step that came after it. Steps that ended before it are not.</p>
  </Confirm>
)

/** Parses what was typed; the error says where it goes wrong. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`Value: this is not JSON: ${reasonOf(error)}`, { cause: error })
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
  const [text, setText] = useState("")
  const [message, setMessage] = useState("")
  return (
    <FormDialog
      title={`Send ${signal}`}
      submit="Send"
      done={`${signal} is sent.`}
      canSubmit={text.trim() !== "" && (!isInbox || message.trim() !== "")}
      onSubmit={async () => {
        const body = { signal, value: parsed(text), id: isInbox ? message.trim() : undefined }
        await call("POST", `flow-executions/${id}/signals`, { body })
        onDone()
      }}
      onClose={onClose}
    >
      {isInbox ? (
        <TextField
          label="Id of the message"
          hint="A message that is sent again with its id arrives once."
          value={message}
          onValue={setMessage}
          autocomplete="off"
          required
        />
      ) : null}
      <AreaField
        label="Value"
        hint={
          'JSON as the flow expects it, such as {"approved": true, "comment": null} for an approval, which is recorded in your name.'
        }
        value={text}
        onValue={setText}
        rows={6}
        required
      />
    </FormDialog>
  )
}
