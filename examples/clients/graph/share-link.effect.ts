/** A link for the organisation that lasts a week, and access for one person more. */
import * as Drive from "@signalbox/graph/Drive"
import * as Sharing from "@signalbox/graph/Sharing"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"

export const main = Effect.fnUntraced(function* (
  path: string,
  recipient: string
) {
  const expirationDateTime = DateTime.formatIso(
    DateTime.add(yield* DateTime.now, { days: 7 })
  )
  const { link } = yield* Sharing.createLink(
    Drive.me,
    { path },
    { type: "view", expirationDateTime }
  )
  const invited = yield* Sharing.invite(
    Drive.me,
    { path },
    { recipients: [recipient], roles: ["write"] }
  )
  const refused = invited
    .filter(({ problem }) => problem !== null)
    .map(({ recipient }) => recipient)
  return { url: link?.webUrl, refused }
})
