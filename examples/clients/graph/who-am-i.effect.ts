/** Who is signed in, and how full the drive is. */
import * as Drive from "@signalbox/graph/Drive"
import * as Drives from "@signalbox/graph/Drives"
import * as Users from "@signalbox/graph/Users"
import * as Effect from "effect/Effect"

export const main = Effect.gen(function* () {
  const { displayName, mail } = yield* Users.me()
  const { driveType, quota } = yield* Drives.get(Drive.me)
  return `${displayName} <${mail}>, ${driveType} drive, ${quota?.used} bytes used`
})
