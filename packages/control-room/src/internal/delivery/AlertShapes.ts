/** What each type of channel is sent over HTTP: the shapes of their incoming webhooks. */
import * as Redacted from "effect/Redacted"
import type { ChannelSettings, MailSettings } from "../store/notifications/AlertChannels.ts"
import type { MessageText } from "../store/notifications/AlertMessages.ts"
import { headersOf } from "./Deliverer.ts"

export interface HttpMessage {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

type HttpSettings = Exclude<ChannelSettings, MailSettings | { readonly type: "heartbeat" }>
interface Said extends MessageText {
  readonly id: string
  /** The page of the console about the alert. */
  readonly link: string
}

const json = (endpoint: string, id: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  endpoint,
  headers: {
    "content-type": "application/json",
    "user-agent": "Signalbox-Webhooks/1",
    "webhook-id": id,
    ...headers
  },
  body: Buffer.from(JSON.stringify(body))
})

/** The three characters that mean something in texts of Slack. */
const slackText = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Characters that mean something in texts of adaptive cards. */
const cardText = (text: string) => text.replace(/[\\`*_{}[\]()#+!|<>~-]/g, "\\$&")

const card = ({ link, text, title }: Said) => ({
  type: "message",
  attachments: [
    {
      contentType: "application/vnd.microsoft.card.adaptive",
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        body: [
          { type: "TextBlock", text: cardText(title), weight: "Bolder", wrap: true },
          { type: "TextBlock", text: cardText(text), wrap: true }
        ],
        actions: [{ type: "Action.OpenUrl", title: "Open the alert", url: link }]
      }
    }
  ]
})

/** The address of a server of ntfy, and the topic: the last part of the path. */
const topicOf = (url: string) => {
  const address = new URL(url)
  const parts = address.pathname.split("/").filter((part) => part !== "")
  const topic = decodeURIComponent(parts.at(-1) ?? "")
  address.pathname = `/${parts.slice(0, -1).join("/")}`
  return { endpoint: address.href, topic }
}

/** The request for a message. */
export const requestOf = (settings: HttpSettings, said: Said, millis: number): HttpMessage => {
  const { id, link, text, title } = said
  switch (settings.type) {
    case "webhook": {
      const body = Buffer.from(said.event)
      const { previous, secret, url } = settings
      const secrets = [
        Redacted.make(secret),
        ...(previous === undefined || previous.until <= millis ? [] : [Redacted.make(previous.secret)])
      ] as const
      return { endpoint: url, headers: headersOf(id, body, secrets, millis), body }
    }
    case "slack":
      return json(settings.url, id, { text: `*${slackText(title)}*\n${slackText(text)}\n${link}` })
    case "teams":
      return json(settings.url, id, card(said))
    case "ntfy": {
      const { endpoint, topic } = topicOf(settings.url)
      const auth = settings.token === null ? undefined : { authorization: `Bearer ${settings.token}` }
      return json(endpoint, id, { topic, title, message: text, click: link }, auth)
    }
  }
}
