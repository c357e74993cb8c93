/** Small parts that every screen is made of. */
import type { ComponentChildren, JSX } from "preact"
import { useEffect } from "preact/hooks"
import { visible } from "../../internal/logs/visible.ts"
import { dismiss, toasts } from "../state.ts"
import { ago, exactly } from "../format.ts"
import { lampOf, stateText } from "./states.ts"
import { now } from "./clock.ts"
import { names } from "../text/names.ts"
import * as text from "../text/text.ts"

export const Button = ({
  children,
  kind,
  ...rest
}: { readonly kind?: "primary" | "danger" | undefined; readonly children: ComponentChildren } & Omit<
  JSX.IntrinsicElements["button"],
  "class"
>) => (
  <button type="button" class={`button ${kind ?? ""}`} {...rest}>
    {children}
  </button>
)

/** A state with its lamp; the word says it, the colour only helps. */
export const State = ({ state, children }: { readonly state: string; readonly children?: ComponentChildren }) => (
  <span class={`state ${lampOf(state)}`}>
    <span class="lamp" aria-hidden="true" />
    {children ?? stateText(state)}
  </span>
)

/** A moment, such as `3 minutes ago`; the exact one is its title. */
export const Time = ({ at }: { readonly at: string | null }) =>
  at === null ? (
    <span class="quiet">{text.kit.notYet}</span>
  ) : (
    <time dateTime={at} title={exactly(at)}>
      {ago(at, now.value)}
    </time>
  )

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <b>{title}</b>
    {children}
  </div>
)

/** In the place of what is being loaded, about as high as that. */
export const Skeleton = ({ rows = 6 }: { readonly rows?: number }) => (
  <div class="skeleton" role="status" aria-busy="true">
    <span class="hidden">{text.kit.loading}</span>
    {Array.from({ length: rows }, (_, row) => (
      <i key={row} />
    ))}
  </div>
)

/** What went wrong, in the words of the service. */
export const Problem = ({ message }: { readonly message: string | null }) =>
  message === null ? null : (
    <p class="notice failed" role="alert">
      {message}
    </p>
  )

export const Panel = ({
  title,
  flush = false,
  children
}: {
  readonly title?: string
  readonly flush?: boolean
  readonly children: ComponentChildren
}) => (
  <section class={`panel ${flush ? "flush" : ""}`}>
    {title === undefined ? null : <h2>{title}</h2>}
    {children}
  </section>
)

/** The head of a screen; its title is also that of the browser's tab. */
export const Head = ({
  title,
  state,
  children,
  actions
}: {
  readonly title: string
  readonly state?: string | undefined
  readonly children?: ComponentChildren
  readonly actions?: ComponentChildren
}) => {
  useEffect(() => {
    document.title = visible(`${title} · ${names.product}`)
  }, [title])
  return (
    <header class="page">
      <h1 tabIndex={-1}>{title}</h1>
      {state === undefined ? null : (
        <span aria-live="polite">
          <State state={state} />
        </span>
      )}
      {children === undefined ? null : <span class="quiet">{children}</span>}
      {actions === undefined ? null : <span class="end">{actions}</span>}
    </header>
  )
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, kind, text: message, undo }) => (
      <div key={id} class={`toast ${kind}`}>
        {message}
        {undo === null ? null : (
          <Button
            onClick={() => {
              dismiss(id)
              undo()
            }}
          >
            {text.kit.undo}
          </Button>
        )}
      </div>
    ))}
  </div>
)

export interface Tab {
  readonly name: string
  readonly label: ComponentChildren
  readonly href: string
}

export const Tabs = ({
  tabs,
  current,
  label
}: {
  readonly tabs: ReadonlyArray<Tab>
  readonly current: string
  readonly label: string
}) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ href, label, name }) => (
      <a key={name} href={href} aria-current={name === current ? "page" : undefined}>
        {label}
      </a>
    ))}
  </nav>
)
