/** Opens a session, where none is open: by login, by a key, or by a link to choose a password. */
import { useEffect, useState } from "preact/hooks"
import { linkPath, providerPath, send, signInPath } from "./api.ts"
import { Button, Problem } from "./kit/Basics.tsx"
import { TextField } from "./kit/Field.tsx"
import { EnrolmentFields, RecoveryCodes } from "./kit/SecondFactor.tsx"
import { acceptWith, choose, enrol, enrolled, type Enrolling, link, open, refusal, signIn } from "./state.ts"
import { names } from "./text/names.ts"
import * as text from "./text/text.ts"

/** What a form does, one at a time. */
const useBusy = () => {
  const [isBusy, setBusy] = useState(false)
  const submit = (work: () => Promise<void>) => (event: Event) => {
    event.preventDefault()
    setBusy(true)
    void work().finally(() => setBusy(false))
  }
  return { isBusy, submit }
}

const ByKey = () => {
  const [key, setKey] = useState("")
  const { isBusy, submit } = useBusy()
  return (
    <form onSubmit={submit(() => open({ key: key.trim() }))}>
      <TextField
        label={text.common.key}
        type="password"
        autocomplete="off"
        required
        value={key}
        onValue={setKey}
        hint={text.frame.keyHint(<code>signalbox keys create</code>)}
      />
      <Button type="submit" kind="primary" disabled={isBusy}>
        {text.frame.signIn}
      </Button>
    </form>
  )
}

const ByLogin = () => {
  const [login, setLogin] = useState("")
  const [password, setPassword] = useState("")
  const [code, setCode] = useState<string | null>(null)
  const { isBusy, submit } = useBusy()
  return (
    <form
      onSubmit={submit(async () => {
        const isNeeded = await signIn({ login: login.trim(), password, code: code ?? undefined })
        if (isNeeded) setCode("")
      })}
    >
      <TextField label={text.frame.login} autocomplete="username" required value={login} onValue={setLogin} />
      <TextField
        label={text.frame.password}
        type="password"
        autocomplete="current-password"
        required
        value={password}
        onValue={setPassword}
      />
      {code === null ? null : (
        <TextField
          label={text.frame.code}
          autocomplete="one-time-code"
          required
          value={code}
          onValue={setCode}
          hint={text.frame.codeHint}
        />
      )}
      <Button type="submit" kind="primary" disabled={isBusy}>
        {text.frame.signIn}
      </Button>
      <p class="hint">{text.frame.forgotten}</p>
    </form>
  )
}

interface Provider {
  readonly id: string
  readonly name: string
}

/** Leads to a provider, and from there to the screen of now. A link: browsers would not let a form lead to another site. */
const ByProvider = ({ id, name }: Provider) => {
  const to = location.hash.startsWith("#/") ? `?to=${encodeURIComponent(location.hash.slice(1))}` : ""
  return (
    <a class="button" href={`${providerPath(id)}${to}`}>
      {text.frame.signInWith(name)}
    </a>
  )
}

/** Whose link it is. */
interface Whose {
  readonly login: string
  readonly signed_in: string | null
  /** With which the account can be used instead of a password. */
  readonly providers: ReadonlyArray<Provider>
}

/** Chooses a password. */
export const Choose = () => {
  const [whose, setWhose] = useState<Whose | null>(null)
  const [password, setPassword] = useState("")
  const { isBusy, submit } = useBusy()
  useEffect(() => {
    send("POST", linkPath, { link: link.value }).then(
      // The service sends what `Whose` has.
      (body) => setWhose(body as Whose),
      (error: unknown) => {
        refusal.value = error instanceof Error ? error.message : String(error)
        link.value = null
      }
    )
  }, [])
  return whose === null ? null : (
    <main class="sign-in">
      <h1>{text.frame.choose}</h1>
      <p class="quiet">{text.frame.chooseHint(<b>{whose.login}</b>)}</p>
      {whose.signed_in === null ? null : (
        <p class="notice failed">{text.frame.signedInOther(<b>{whose.signed_in}</b>)}</p>
      )}
      <Problem message={refusal.value} />
      {whose.providers.length === 0 ? null : (
        <>
          {whose.providers.map(({ id, name }) => (
            <Button key={id} disabled={isBusy} onClick={submit(() => acceptWith(id))}>
              {text.frame.acceptWith(name)}
            </Button>
          ))}
          <p class="quiet">{text.frame.orPassword}</p>
        </>
      )}
      <form onSubmit={submit(() => choose(whose.login, password))}>
        <TextField
          label={text.frame.password}
          type="password"
          autocomplete="new-password"
          required
          value={password}
          onValue={setPassword}
        />
        <Button type="submit" kind="primary" disabled={isBusy}>
          {text.frame.chooseSubmit}
        </Button>
      </form>
    </main>
  )
}

/** Sets up the second factor that a workspace requires. */
export const SetUp = ({ begun }: { readonly begun: Enrolling }) => {
  const [code, setCode] = useState("")
  const { isBusy, submit } = useBusy()
  if (begun.codes !== null) {
    return (
      <main class="sign-in">
        <h1>{text.account.recoveryTitle}</h1>
        <RecoveryCodes codes={begun.codes} />
        <Button kind="primary" onClick={() => void enrolled()}>
          {text.common.done}
        </Button>
      </main>
    )
  }
  return (
    <main class="sign-in">
      <h1>{text.account.addTitle}</h1>
      <p class="quiet">{text.account.requiredHint}</p>
      <Problem message={refusal.value} />
      <form onSubmit={submit(() => enrol(begun, code))}>
        <EnrolmentFields enrolment={begun.enrolment} code={code} onCode={setCode} />
        <Button type="submit" kind="primary" disabled={isBusy}>
          {text.account.confirm}
        </Button>
      </form>
    </main>
  )
}

/** How one signs in here. */
interface Ways {
  /** Whether people have accounts. */
  readonly accounts: boolean
  /** Whether another application signs people in. */
  readonly own: boolean
  readonly providers: ReadonlyArray<Provider>
}

export const SignIn = () => {
  /** Undefined until it is known. */
  const [ways, setWays] = useState<Ways>()
  useEffect(() => {
    send("GET", signInPath).then(
      // The service sends what `Ways` has.
      (body) => setWays(body as Ways),
      () => setWays({ accounts: false, own: false, providers: [] })
    )
  }, [])
  return (
    <main class="sign-in">
      <h1>{names.product}</h1>
      <Problem message={refusal.value} />
      {ways?.providers.map((provider) => (
        <ByProvider key={provider.id} {...provider} />
      ))}
      {ways?.own === true ? (
        <p>{text.frame.ownSignIn}</p>
      ) : ways?.accounts === true ? (
        <>
          <ByLogin />
          <details>
            <summary>{text.frame.byKey}</summary>
            <ByKey />
          </details>
        </>
      ) : ways?.accounts === false ? (
        <>
          <p class="quiet">{text.frame.signInHint(<code>signalbox open</code>)}</p>
          <ByKey />
        </>
      ) : null}
    </main>
  )
}
