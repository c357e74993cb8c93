/** Opens a session, where no ticket has opened one. */
import { useState } from "preact/hooks"
import { Button, Problem } from "./kit/Basics.tsx"
import { refusal, signIn } from "./state.ts"

export const SignIn = () => {
  const [key, setKey] = useState("")
  const [isBusy, setBusy] = useState(false)
  const submit = async () => {
    setBusy(true)
    await signIn({ key: key.trim() })
    setBusy(false)
  }
  return (
    <main class="sign-in">
      <h1>Signalbox</h1>
      <p class="quiet">
        On the machine of the control room, <code>signalbox open</code> opens this page signed in. Anywhere else, paste
        a key of the workspace.
      </p>
      <Problem message={refusal.value} />
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <div class="field">
          <label for="key">Key</label>
          <input
            id="key"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          <span class="hint">
            It is not stored in this browser. <code>signalbox keys create</code> makes one.
          </span>
        </div>
        <Button type="submit" kind="primary" disabled={isBusy}>
          Sign in
        </Button>
      </form>
    </main>
  )
}
