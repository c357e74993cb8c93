/** The page: a session, then the screens. */
import { render } from "preact"
import { Shell } from "./Shell.tsx"
import { Choose, SetUp, SignIn } from "./SignIn.tsx"
import { Toasts } from "./kit/Basics.tsx"
import { startLive } from "./live.ts"
import { begin, enrolling, link, session } from "./state.ts"
import { showControlCharacters } from "./controlCharacters.ts"

const App = () => (
  <>
    {session.value === undefined ? null : link.value !== null ? (
      <Choose />
    ) : enrolling.value !== null ? (
      <SetUp begun={enrolling.value} />
    ) : session.value === null ? (
      <SignIn />
    ) : (
      <Shell session={session.value} />
    )}
    <Toasts />
  </>
)

showControlCharacters()
render(<App />, document.body)
startLive()
void begin()
