/** The frame around every screen: the navigation, and the screen that the address names. */
import { type ComponentType, Fragment } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { Page, Session } from "./api.ts"
import { listen, openDialog } from "./keys.ts"
import { Button, Problem } from "./kit/Basics.tsx"
import { SelectField } from "./kit/Field.tsx"
import { Help } from "./kit/Help.tsx"
import { Palette } from "./kit/Palette.tsx"
import { liveState } from "./live.ts"
import { useResource } from "./load.ts"
import { route, to } from "./route.ts"
import type { Screen, ScreenProps } from "./kit/Screen.ts"
import { screens } from "./screens.tsx"
import { changeTo, may, signOut } from "./state.ts"
import { choose, theme, themes } from "./theme.ts"
import * as text from "./text/text.ts"

const groups = [null, "robots", "integrations"] as const

const Mark = () => (
  <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
    <path d="M3 17V4M3 5l10-2v6L3 8" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round" />
    <circle cx="16" cy="15" r="2.4" fill="var(--done)" />
  </svg>
)

/** Unsettled groups of failures; beyond a page of them the count only says that there are more. */
const useOpenFailures = () => {
  const failures = useResource<Page<unknown>>(may("Failures.read_failures") ? "failures" : null, {
    state: "open",
    limit: 99
  })
  const open = failures.data
  return open === undefined || open.data.length === 0 ? null : `${open.data.length}${open.has_more ? "+" : ""}`
}

const Link = ({
  screen,
  current,
  badge
}: {
  readonly screen: Screen
  readonly current: string
  readonly badge: string | null
}) => (
  <a href={to([screen.path].filter(Boolean))} aria-current={screen.path === current ? "page" : undefined}>
    {screen.title}
    {badge === null ? null : (
      <span class="badge">
        {badge}
        <span class="hidden">{text.frame.open}</span>
      </span>
    )}
  </a>
)

/** Its element is always there, so that a change of it is read out. */
const LiveNotice = () => (
  <div role="status" class={liveState.value === "polling" ? "notice late" : "hidden"}>
    {liveState.value === "polling" ? text.frame.polling : ""}
  </div>
)

const ThemeField = () => (
  <div class="theme">
    <label for="theme">{text.frame.theme}</label>
    <select
      id="theme"
      value={theme.value}
      onChange={(event) => choose(themes[event.currentTarget.selectedIndex] ?? "system")}
    >
      {themes.map((theme) => (
        <option key={theme} value={theme}>
          {text.frame.themes[theme]}
        </option>
      ))}
    </select>
  </div>
)

/** Those who cannot see that the screen has changed are led to its heading; not at first, where they begin with the page. */
const useFocus = (place: string, isShown: boolean) => {
  const before = useRef(place)
  useEffect(() => {
    if (!isShown || before.current === place) return
    before.current = place
    scrollTo(0, 0)
    document.querySelector<HTMLElement>("main h1")?.focus()
  }, [place, isShown])
}

/** Loaded once; the browser keeps it. */
const useScreen = (screen: Screen | undefined) => {
  const [loaded, setLoaded] = useState<{ readonly of: Screen; readonly View: ComponentType<ScreenProps> } | null>(null)
  const [error, setError] = useState<string | null>(null)
  useEffect(() => {
    if (screen === undefined) return
    let isCurrent = true
    screen.load().then(
      ({ default: View }) => isCurrent && setLoaded({ of: screen, View }),
      () => isCurrent && setError(text.frame.screenFailed)
    )
    return () => {
      isCurrent = false
    }
  }, [screen])
  return { View: loaded !== null && loaded.of === screen ? loaded.View : null, error }
}

/** Who is signed in, and the workspaces that they may change to. */
const Who = ({ session: { key, user, workspace, workspaces } }: { readonly session: Session }) => (
  <>
    <p>
      {user === null
        ? text.frame.signedIn(<b>{key?.name ?? ""}</b>)
        : text.frame.signedInAs(<a href={to(["account"])}>{user.name}</a>)}
    </p>
    {workspaces.length < 2 ? null : (
      <SelectField
        label={text.frame.workspace}
        value={workspace.id}
        onValue={(id) => void changeTo(id)}
        options={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
      />
    )}
  </>
)

export const Shell = ({ session }: { readonly session: Session }) => {
  const [first = "", ...rest] = route.value.path
  const visible = screens.filter(
    ({ exists, permission }) => (permission === null || may(permission)) && exists?.(session) !== false
  )
  const screen = visible.find(({ path }) => path === first)
  const { View, error } = useScreen(screen)
  const [isOpen, setOpen] = useState(false)
  const failures = useOpenFailures()
  const place = route.value.path.join("/")
  const paths = visible.map(({ path }) => path).join(" ")
  useFocus(place, View !== null || screen === undefined)
  useEffect(() => setOpen(false), [place])
  useEffect(() => listen((path) => paths.split(" ").includes(path)), [paths])
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
        {text.frame.skip}
      </a>
      <nav aria-label={text.frame.workspace} class={isOpen ? "open" : ""}>
        <div class="top">
          <a class="brand" href="#/">
            <Mark />
            <span>{session.workspace.name}</span>
          </a>
          <button
            type="button"
            class="button menu"
            aria-expanded={isOpen}
            aria-controls="navigation"
            onClick={() => setOpen(!isOpen)}
          >
            {text.frame.menu}
          </button>
        </div>
        <div class="places" id="navigation">
          {groups.map((group) => {
            const links = visible.filter((screen) => screen.group === group && screen.isHidden !== true)
            return links.length === 0 ? null : (
              <Fragment key={group ?? ""}>
                {group === null ? null : <div class="group">{text.frame.groups[group]}</div>}
                {links.map((screen) => (
                  <Link
                    key={screen.path}
                    screen={screen}
                    current={first}
                    badge={screen.path === "failures" ? failures : null}
                  />
                ))}
              </Fragment>
            )
          })}
          <div class="who">
            <Who session={session} />
            <ThemeField />
            <div class="do">
              <Button onClick={() => (openDialog.value = "help")}>{text.frame.shortcuts}</Button>
              <Button onClick={() => void signOut()}>{text.frame.signOut}</Button>
            </div>
          </div>
        </div>
      </nav>
      <main id="main">
        <LiveNotice />
        <Problem message={error} />
        {screen === undefined ? (
          <>
            <h1 tabIndex={-1}>{text.frame.notFound}</h1>
            <p>{text.frame.notFoundHint(<a href="#/">{text.frame.toOverview}</a>)}</p>
          </>
        ) : View === null ? null : (
          <View path={rest} />
        )}
      </main>
      {openDialog.value === "help" ? <Help screens={visible} /> : null}
      {openDialog.value === "palette" ? <Palette screens={visible} /> : null}
    </div>
  )
}
