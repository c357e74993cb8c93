/**
 * The pages of the identity provider. They have no scripts of their own, save the one that sends a form.
 */
import type { App, User } from "../model/Model.ts"

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escape = (text: string) => text.replace(/[&<>"']/g, (char) => entities[char] ?? char)

const page = (title: string, body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title><style>` +
  "body{font:16px system-ui;max-width:26rem;margin:4rem auto;padding:0 1rem}button{display:block;width:100%;" +
  "margin:.5rem 0;padding:.75rem;font:inherit;text-align:left}small{color:#555}</style></head>" +
  `<body><h1>${escape(title)}</h1>${body}</body></html>`

const choices = (users: ReadonlyArray<User>) =>
  users
    .map(
      ({ displayName, userPrincipalName }) =>
        `<button name="user" value="${escape(userPrincipalName)}">${escape(displayName)}<br>` +
        `<small>${escape(userPrincipalName)}</small></button>`
    )
    .join("") + `<button name="decline" value="yes">Decline</button>`

/** Pick who signs in. */
export const pick = (app: App, scopes: ReadonlyArray<string>, users: ReadonlyArray<User>) =>
  page(
    "Sign in to the sandbox",
    `<p><b>${escape(app.name)}</b> asks for: ${escape(scopes.join(", "))}</p><form method="post">${choices(users)}</form>`
  )

/** Allow a device. */
export const device = (code: string, users: ReadonlyArray<User>) =>
  page(
    "Allow a device",
    `<form method="post"><label>Code <input name="user_code" value="${escape(code)}" autofocus></label>` +
      `${choices(users)}</form>`
  )

export const message = (title: string, text: string) => page(title, `<p>${escape(text)}</p>`)

/** Sends what the app waits for as a form. */
export const post = (to: string, fields: Readonly<Record<string, string>>) =>
  page(
    "Back to the app",
    `<form method="post" action="${escape(to)}">` +
      Object.entries(fields)
        .map(([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`)
        .join("") +
      "<noscript><button>Go on</button></noscript></form><script>document.forms[0].submit()</script>"
  )
