/** One's own account: password, second factor, and the browsers that are signed in to it. */
import { useEffect, useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { accountPath, send } from "../api.ts"
import { Button, Head, Panel, Problem, Time } from "../kit/Basics.tsx"
import { Dialog, FormDialog } from "../kit/Dialog.tsx"
import { TextField } from "../kit/Field.tsx"
import { CodeField, type Enrolment, EnrolmentFields, RecoveryCodes } from "../kit/SecondFactor.tsx"
import { session } from "../state.ts"
import * as text from "../text/text.ts"

interface Browser {
  readonly id: string
  readonly browser: string
  readonly address: string | null
  readonly last_used_at: string
  readonly current: boolean
}

interface Account {
  readonly login: string
  readonly second_factor: boolean
  /** Else the account signs in with a provider, which has passwords and second factors. */
  readonly has_password: boolean
  readonly sessions: ReadonlyArray<Browser>
}

/** Asks the service about the account. */
const own = async <A,>(method: string, path: string, body?: unknown): Promise<A> =>
  // The caller names the type of what the service sends.
  (await send(method, `${accountPath}${path}`, body)) as A

const PasswordField = (props: {
  readonly label: string
  readonly value: string
  readonly hint?: string
  readonly isNew?: true
  readonly onValue: (value: string) => void
}) => {
  const { isNew, ...rest } = props
  return (
    <TextField {...rest} type="password" autocomplete={isNew === true ? "new-password" : "current-password"} required />
  )
}

const ChangePassword = () => {
  const [current, setCurrent] = useState("")
  const [next, setNext] = useState("")
  const action = useAction()
  const submit = async () => {
    const isDone = await action.run(
      () => own("POST", "/password", { current, password: next }),
      text.account.passwordChanged
    )
    if (!isDone) return
    setCurrent("")
    setNext("")
  }
  return (
    <Panel title={text.account.password}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <Problem message={action.error} />
        <PasswordField label={text.account.current} value={current} onValue={setCurrent} />
        <PasswordField label={text.account.next} hint={text.account.nextHint} value={next} onValue={setNext} isNew />
        <Button type="submit" kind="primary" disabled={action.isBusy}>
          {text.account.changePassword}
        </Button>
      </form>
    </Panel>
  )
}

interface DialogProps {
  readonly onClose: () => void
}

const Enrol = ({ onClose }: DialogProps) => {
  const [password, setPassword] = useState("")
  const [code, setCode] = useState("")
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null)
  const [codes, setCodes] = useState<ReadonlyArray<string> | null>(null)
  if (codes !== null) {
    return (
      <Dialog title={text.account.recoveryTitle} onClose={onClose}>
        <RecoveryCodes codes={codes} />
        <div class="actions">
          <Button kind="primary" onClick={onClose}>
            {text.common.done}
          </Button>
        </div>
      </Dialog>
    )
  }
  if (enrolment === null) {
    return (
      <FormDialog
        title={text.account.addTitle}
        submit={text.account.begin}
        onSubmit={() => own<Enrolment>("POST", "/second-factor", { password })}
        onDone={setEnrolment}
        onClose={onClose}
      >
        <PasswordField label={text.account.current} value={password} onValue={setPassword} />
      </FormDialog>
    )
  }
  return (
    <FormDialog
      title={text.account.addTitle}
      submit={text.account.confirm}
      onSubmit={() =>
        own<{ readonly recovery_codes: ReadonlyArray<string> }>("POST", "/second-factor/confirm", {
          pending: enrolment.pending,
          code
        })
      }
      onDone={({ recovery_codes }) => setCodes(recovery_codes)}
      onClose={onClose}
    >
      <EnrolmentFields enrolment={enrolment} code={code} onCode={setCode} />
    </FormDialog>
  )
}

const RemoveFactor = ({ onClose }: DialogProps) => {
  const [password, setPassword] = useState("")
  const [code, setCode] = useState("")
  return (
    <FormDialog
      title={text.account.removeTitle}
      submit={text.common.remove}
      kind="danger"
      done={text.account.removedFactor}
      onSubmit={() => own("DELETE", "/second-factor", { password, code })}
      onClose={onClose}
    >
      <PasswordField label={text.account.current} value={password} onValue={setPassword} />
      <CodeField code={code} onCode={setCode} />
    </FormDialog>
  )
}

const Browsers = ({ sessions, onDone }: { readonly sessions: Account["sessions"]; readonly onDone: () => void }) => {
  const action = useAction()
  const end = async (id: string) => {
    if (await action.run(() => own("DELETE", `/sessions/${id}`), text.account.ended)) onDone()
  }
  return (
    <Panel title={text.account.sessions} flush>
      <Problem message={action.error} />
      <table>
        <caption class="hidden">{text.account.sessionsHint}</caption>
        <thead>
          <tr>
            <th scope="col">{text.account.browser}</th>
            <th scope="col">{text.account.address}</th>
            <th scope="col">{text.account.lastUse}</th>
            <th scope="col">{text.common.actions}</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map(({ address, browser, current, id, last_used_at }) => (
            <tr key={id}>
              <td class="breaks">{browser}</td>
              <td>{address}</td>
              <td>
                <Time at={last_used_at} />
              </td>
              <td>
                {current ? (
                  text.account.thisOne
                ) : (
                  <Button disabled={action.isBusy} onClick={() => void end(id)}>
                    {text.account.end}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

export default () => {
  const [account, setAccount] = useState<Account | null>(null)
  const [error, setError] = useState<string | null>(null)
  const [isOpen, setOpen] = useState(false)
  const load = () => {
    own<Account>("GET", "").then(setAccount, (cause: unknown) =>
      setError(cause instanceof Error ? cause.message : String(cause))
    )
  }
  useEffect(load, [])
  const onClose = () => {
    setOpen(false)
    load()
  }
  return (
    <div class="readable">
      <Head title={session.value?.user?.name ?? text.screens.account}>{text.account.subtitle}</Head>
      <Problem message={error} />
      {account === null ? null : (
        <>
          {account.has_password ? (
            <>
              <ChangePassword />
              <Panel title={text.account.factor}>
                <p>{account.second_factor ? text.account.factorOn : text.account.factorOff}</p>
                <Button onClick={() => setOpen(true)}>
                  {account.second_factor ? text.account.removeFactor : text.account.addFactor}
                </Button>
              </Panel>
            </>
          ) : (
            <p class="quiet">{text.account.byProvider}</p>
          )}
          <Browsers sessions={account.sessions} onDone={load} />
          {!isOpen ? null : account.second_factor ? <RemoveFactor onClose={onClose} /> : <Enrol onClose={onClose} />}
        </>
      )}
    </div>
  )
}
