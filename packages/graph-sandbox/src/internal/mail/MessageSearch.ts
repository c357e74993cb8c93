/**
 * `$search` of messages, as `"from:joan AND hasAttachments:true"`: words, and values of fields, joined by AND, OR and NOT.
 */
import * as Result from "effect/Result"
import * as MailFailures from "./MailFailures.ts"
import { textOf } from "./MessageViews.ts"
import type { Failure } from "../model/Failure.ts"
import type { MailMessage } from "../model/Mail.ts"
import { objectOf, time } from "../requests/GraphRequest.ts"

type Test = (message: MailMessage) => boolean

/** What a field holds, as texts. */
type Field = (message: MailMessage) => ReadonlyArray<string>

const people =
  (...names: ReadonlyArray<string>): Field =>
  ({ properties }) =>
    names
      .flatMap((name) => properties[name] ?? [])
      .flatMap((recipient) => Object.values(objectOf(objectOf(recipient)["emailAddress"])).map(String))

const property =
  (name: string): Field =>
  ({ properties }) => [String(properties[name] ?? "")]

const subject = property("subject")
const body: Field = (message) => [textOf(message)]
const from = people("from")

/** Words begin with what is searched for. */
const wordsOf: Readonly<Record<string, Field>> = {
  attachment: ({ attachments }) => attachments.map(({ name }) => name),
  attachmentnames: ({ attachments }) => attachments.map(({ name }) => name),
  bcc: people("bccRecipients"),
  body,
  cc: people("ccRecipients"),
  from,
  participants: people("from", "toRecipients", "ccRecipients", "bccRecipients"),
  recipients: people("toRecipients", "ccRecipients", "bccRecipients"),
  subject,
  to: people("toRecipients")
}

/** The value is all that the field holds. */
const valuesOf: Readonly<Record<string, Field>> = {
  hasattachment: ({ attachments }) => [String(attachments.some(({ isInline }) => !isInline))],
  hasattachments: ({ attachments }) => [String(attachments.some(({ isInline }) => !isInline))],
  importance: property("importance"),
  isread: property("isRead"),
  received: ({ receivedAt }) => [time(receivedAt).slice(0, 10)],
  sent: ({ sentAt }) => [time(sentAt).slice(0, 10)]
}

const isIn = (text: string, wanted: string) => {
  const words = wanted.toLowerCase().replace(/\*$/, "")
  const there = text.toLowerCase()
  for (let at = there.indexOf(words); at !== -1; at = there.indexOf(words, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(there[at - 1] ?? "")) return true
  }
  return false
}

const invalid = (message: string) => Result.fail(MailFailures.invalidRequest(message))

const term = (token: string): Result.Result<Test, Failure> => {
  const [, name, quoted] = /^(?:(\w+):)?(.*)$/s.exec(token) ?? []
  const value = (quoted ?? "").replace(/^"(.*)"$/s, "$1")
  if (value === "") return invalid(`Syntax error: a value is expected in '${token}'.`)
  if (name === undefined) {
    return Result.succeed((message) =>
      [from, subject, body].some((of) => of(message).some((text) => isIn(text, value)))
    )
  }
  const words = wordsOf[name.toLowerCase()]
  if (words !== undefined) return Result.succeed((message) => words(message).some((text) => isIn(text, value)))
  const values = valuesOf[name.toLowerCase()]
  return values === undefined
    ? invalid(`The sandbox does not search in '${name}'. Its README lists the fields.`)
    : Result.succeed((message) => values(message).some((text) => text.toLowerCase() === value.toLowerCase()))
}

/** A reader of tokens by descent; OR binds least, words beside one another are as with AND. */
class Parser {
  private at = 0
  private readonly tokens: ReadonlyArray<string>

  constructor(tokens: ReadonlyArray<string>) {
    this.tokens = tokens
  }

  private take(word: string): boolean {
    const found = this.tokens[this.at] === word
    if (found) this.at++
    return found
  }

  whole(): Result.Result<Test, Failure> {
    return Result.flatMap(this.either(), (test) =>
      this.at === this.tokens.length ? Result.succeed(test) : invalid("Syntax error in $search: a ')' is too much.")
    )
  }

  private either(): Result.Result<Test, Failure> {
    let left = this.both()
    while (Result.isSuccess(left) && this.take("OR")) {
      const first = left.success
      left = Result.map(this.both(), (second) => (message) => first(message) || second(message))
    }
    return left
  }

  private both(): Result.Result<Test, Failure> {
    let left = this.one()
    while (Result.isSuccess(left) && this.at < this.tokens.length && !/^(?:OR|\))$/.test(this.tokens[this.at] ?? "")) {
      this.take("AND")
      const first = left.success
      left = Result.map(this.one(), (second) => (message) => first(message) && second(message))
    }
    return left
  }

  private one(): Result.Result<Test, Failure> {
    if (this.take("NOT")) return Result.map(this.one(), (test) => (message) => !test(message))
    if (this.take("(")) {
      const inner = this.either()
      return this.take(")") ? inner : invalid("Syntax error in $search: a ')' is missing.")
    }
    const token = this.tokens[this.at++]
    return token === undefined ? invalid("Syntax error in $search: a word is expected.") : term(token)
  }
}

export const parse = (source: string): Result.Result<Test, Failure> => {
  const text = /^\s*"(.*)"\s*$/s.exec(source)?.[1]?.replace(/\\(.)/g, "$1")
  const bare = text ?? source
  if (text === undefined && /[:\s]/.test(source)) {
    const at = source.search(/[:\s]/)
    return invalid(`Syntax error: character '${source[at]}' is not valid at position ${at} in '${source}'.`)
  }
  return new Parser([...bare.matchAll(/[()]|(?:\w+:)?"[^"]*"|[^\s()]+/g)].map(([token]) => token)).whole()
}
