/** Opens a session, where no ticket has opened one. */
import { useState } from "preact/hooks"
import { Button, Problem } from "./kit/Basics.tsx"
import { refusal, signIn } from "./state.ts"
import { names } from "./text/names.ts"
import * as text from "./text/text.ts"

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
      <h1>{names.product}</h1>
      <p class="quiet">{text.frame.signInHint(<code>signalbox open</code>)}</p>
      <Problem message={refusal.value} />
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <div class="field">
          <label for="key">{text.common.key}</label>
          <input
            id="key"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          <span class="hint">{text.frame.keyHint(<code>signalbox keys create</code>)}</span>
        </div>
        <Button type="submit" kind="primary" disabled={isBusy}>
          {text.frame.signIn}
        </Button>
      </form>
    </main>
  )
}
