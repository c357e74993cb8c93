/** Who is signed in, and how full the drive is. */
import { Drive, Drives, Users } from "@signalbox/graph"
import * as Effect from "effect/Effect"

export const main = Effect.gen(function* () {
  const { displayName, mail } = yield* Users.me()
  const { driveType, quota } = yield* Drives.get(Drive.me)
  return `${displayName} <${mail}>, ${driveType} drive, ${quota?.used} bytes used`
})
