/** The frame around every screen: the navigation, and the screen that the address names. */
import type { ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { Session } from "./api.ts"
import { Button, Problem } from "./kit/Basics.tsx"
import { liveState } from "./live.ts"
import { route, to } from "./route.ts"
import { type Screen, type ScreenProps, screens } from "./screens.tsx"
import { may, signOut } from "./state.ts"

const Mark = () => (
  <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
    <path d="M3 17V4M3 5l10-2v6L3 8" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round" />
    <circle cx="16" cy="15" r="2.4" fill="var(--done)" />
  </svg>
)

const Link = ({ screen, current }: { readonly screen: Screen; readonly current: string }) => (
  <a href={to([screen.path].filter(Boolean))} {...(screen.path === current ? { "aria-current": "page" as const } : {})}>
    {screen.title}
  </a>
)

/** Loaded once; the browser keeps it. */
const useScreen = (screen: Screen | undefined) => {
  const [loaded, setLoaded] = useState<{ readonly of: Screen; readonly View: ComponentType<ScreenProps> } | null>(null)
  const [error, setError] = useState<string | null>(null)
  useEffect(() => {
    if (screen === undefined) return
    let isCurrent = true
    screen.load().then(
      ({ default: View }) => isCurrent && setLoaded({ of: screen, View }),
      () =>
        isCurrent &&
        setError(
          "a part of this page cannot be loaded; the control room was updated or cannot be reached. Reload the page."
        )
    )
    return () => {
      isCurrent = false
    }
  }, [screen])
  return { View: loaded !== null && loaded.of === screen ? loaded.View : null, error }
}

export const Shell = ({ session }: { readonly session: Session }) => {
  const [first = "", ...rest] = route.value.path
  const visible = screens.filter(({ permission }) => permission === null || may(permission))
  const screen = visible.find(({ path }) => path === first)
  const { View, error } = useScreen(screen)
  const groups = [null, "Robots", "Outside"] as const
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          document.querySelector<HTMLElement>("main h1")?.focus()
        }}
      >
        Skip to the content
      </a>
      <nav aria-label="Workspace">
        <a class="brand" href="#/">
          <Mark />
          <span>{session.workspace.name}</span>
        </a>
        {groups.map((group) => {
          const links = visible.filter((screen) => screen.group === group)
          return links.length === 0 ? null : (
            <>
              {group === null ? null : <div class="group">{group}</div>}
              {links.map((screen) => (
                <Link key={screen.path} screen={screen} current={first} />
              ))}
            </>
          )
        })}
        <div class="who">
          <p>
            Signed in with the key <b>{session.key.name}</b>
          </p>
          <Button onClick={() => void signOut()}>Sign out</Button>
        </div>
      </nav>
      <main id="main">
        <Problem message={error} />
        {liveState.value === "polling" ? (
          <p class="notice late" role="status">
            Not connected to what changes: this page is loaded every few seconds, and what it shows may be older.
          </p>
        ) : null}
        {screen === undefined ? (
          <>
            <h1 tabIndex={-1}>Nothing here</h1>
            <p>
              This address leads nowhere, or your key may not see it. <a href="#/">Back to the overview</a>
            </p>
          </>
        ) : View === null ? null : (
          <View path={rest} />
        )}
      </main>
    </div>
  )
}
