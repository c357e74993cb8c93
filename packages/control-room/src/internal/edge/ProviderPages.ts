/** Pages of a sign-in with a provider: where it leads back to the console, and what to do when it does not. */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createHash } from "node:crypto"
import type { Denial } from "./ProviderAccounts.ts"

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1.5rem;color:#1c2430;background:#fff}" +
  "h1{font-size:1.4rem}code{overflow-wrap:anywhere}a{color:#0b5cad}" +
  "@media(prefers-color-scheme:dark){body{color:#e6e9ee;background:#14181f}a{color:#7db7f5}}"

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const escape = (text: string) => text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)

interface Page {
  readonly title: string
  /** Paragraphs of HTML. */
  readonly body: ReadonlyArray<string>
  readonly status?: number
  readonly head?: string
}

const page = ({ body, head = "", status = 200, title }: Page) =>
  HttpServerResponse.text(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<title>${escape(title)}</title><style>${style}</style>${head}</head><body><main><h1>${escape(title)}</h1>` +
      `${body.map((paragraph) => `<p>${paragraph}</p>`).join("")}</main></body></html>`,
    {
      status,
      contentType: "text/html; charset=utf-8",
      headers: {
        "content-security-policy": policy,
        // The address has the code of the provider.
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin"
      }
    }
  )

const link = (address: string, label: string) => `<a href="${escape(address)}">${escape(label)}</a>`

/**
 * Leads to the console by a request of this page: a browser keeps the cookie of the session back from what the provider asks it for.
 */
export const entered = (console: string) =>
  page({
    title: "Signed in",
    body: [link(console, "Continue to the console")],
    head: `<meta http-equiv="refresh" content="0;url=${escape(console)}">`
  })

/** Where to go from a page: again to the provider, or to the console. */
export interface Ways {
  readonly name: string
  /** The path of a new sign-in; null: one begins it elsewhere. */
  readonly again: string | null
  readonly console: string
}

const ways = ({ again, console, name }: Ways) =>
  [again === null ? "" : link(again, `Sign in with ${name} again`), link(console, "Go to the console")]
    .filter((way) => way !== "")
    .join(" · ")

export const away = (to: Ways) =>
  page({
    status: 503,
    title: `${to.name} does not respond`,
    body: [
      "Who is signed in stays signed in, and people with a password can sign in with it. Try again later.",
      ways(to)
    ]
  })

export const mistaken = (to: Ways) =>
  page({
    status: 502,
    title: `Sign-in with ${to.name} failed`,
    body: [
      `What ${escape(to.name)} sent could not be verified, so nobody was signed in. If that happens again, ask who operates the control room: the reason is in the log.`,
      ways(to)
    ]
  })

export const refused = (to: Ways, code: string) =>
  page({
    status: 403,
    title: `${to.name} did not sign you in`,
    body: [
      code === "access_denied"
        ? "The sign-in was cancelled, or your account may not use this control room."
        : `The reason that came with it is <code>${escape(code.slice(0, 100))}</code>.`,
      ways(to)
    ]
  })

export const unknown = (console: string) =>
  page({
    status: 404,
    title: "No such provider",
    body: ["This control room has no provider of sign-in at this address.", link(console, "Go to the console")]
  })

export const expired = (to: Ways) =>
  page({
    status: 403,
    title: "This sign-in has ended",
    body: [
      "It took longer than ten minutes, was used before, or began in another browser or tab. Nobody was signed in.",
      ways(to)
    ]
  })

export const foreign = (to: Ways) =>
  page({
    status: 403,
    title: "Sign in from the console",
    body: ["A page of another address led here, so nothing was begun.", ways(to)]
  })

const groupList = (groups: ReadonlyArray<string>) => {
  if (groups.length === 0) return "no groups"
  const shown = groups.slice(0, 50).map((group) => `<code>${escape(group.slice(0, 200))}</code>`)
  const more = groups.length - shown.length
  return `these groups: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

const askWho = "Ask who operates the control room"

const texts: {
  readonly [R in Denial["reason"]]: (
    denial: Extract<Denial, { readonly reason: R }>,
    name: string
  ) => Pick<Page, "title" | "body">
} = {
  "no subject": ({ claim }, name) => ({
    title: "Your account could not be identified",
    body: [
      `${escape(name)} did not send the claim <code>${escape(claim)}</code>, by which accounts are found. ${askWho} to add it to ID tokens.`
    ]
  }),
  "no groups claim": ({ claim }, name) => ({
    title: "Your groups are not known",
    body: [
      `${escape(name)} did not send the claim <code>${escape(claim)}</code>, by which people get access. ${askWho} to add it to ID tokens.`
    ]
  }),
  "too many groups": ({ claim }, name) => ({
    title: "You are in too many groups",
    body: [
      `${escape(name)} sends no groups for people who are in so many. ${askWho}: the application at ${escape(name)} should send only groups that are assigned to it, or its roles in the claim <code>${escape(claim)}</code>.`
    ]
  }),
  "no access": ({ groups }, name) => ({
    title: "You have no access to this control room",
    body:
      groups === null
        ? [`You are signed in with ${escape(name)}, but were not invited. An administrator can send you an invitation.`]
        : [
            `None of your groups gives access. ${escape(name)} sent ${groupList(groups)}. ${askWho} which group you need.`
          ]
  }),
  link: () => ({
    title: "This invitation has ended",
    body: ["It was used, replaced or has expired. An administrator can send you another one."]
  }),
  bound: (_, name) => ({
    title: "You have another account",
    body: [
      `Your account at ${escape(name)} belongs to another account of this control room, so the invitation was not accepted.`
    ]
  }),
  disabled: () => ({
    title: "Your account is disabled",
    body: ["An administrator of the workspace can enable it again."]
  })
}

/** Whom the provider let in, and this room does not. */
export const denied = (to: Ways, denial: Denial) => {
  // The text of a reason takes the denial with this reason, which the compiler cannot conclude from the table.
  const text = texts[denial.reason] as (denial: Denial, name: string) => Pick<Page, "title" | "body">
  const { body, title } = text(denial, to.name)
  return page({ status: 403, title, body: [...body, ways(to)] })
}
