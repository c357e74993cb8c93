/**
 * Groups, and what follows one in an address.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../requests/Address.ts"
import { isCount, list, viewGroup, viewUser } from "./Collections.ts"
import * as Drives from "../drive/Drives.ts"
import * as Failure from "../model/Failure.ts"
import { dispatch, type GraphRequest } from "../requests/GraphRequest.ts"
import type { Group } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import * as Sites from "../lists/Sites.ts"
import { World } from "../world/World.ts"

const getGroup = (group: Group, request: GraphRequest) => Effect.succeed(Pages.one(request, "groups", viewGroup(group)))

export const groups = Effect.fnUntraced(function* (rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { groups, siteOfGroup, users } = yield* World
  const [key, segment, last] = rest
  if (key === undefined || isCount(key)) {
    return yield* list(request, { of: "groups", rows: [...groups.values()], view: viewGroup }, isCount(key))
  }
  const group = groups.get(key.text)
  if (group === undefined) return yield* Failure.resourceNotFound(`Resource '${key.text}' does not exist.`)
  const site = siteOfGroup.get(group.id)
  switch (segment?.text.toLowerCase()) {
    case undefined:
      return yield* dispatch({ GET: getGroup }, group, request)
    case "members":
    case "transitivemembers":
    case "owners": {
      const rows = group.members.map((id) => users.get(id)).filter((user) => user !== undefined)
      return yield* list(request, { of: "directoryObjects", rows, view: viewUser(request, true) }, isCount(last))
    }
    case "drive":
    case "drives":
      return yield* Drives.of(site?.id ?? "", rest.slice(1), request)
    case "sites":
      if (site === undefined || last?.text.toLowerCase() !== "root") {
        return yield* Failure.itemNotFound("The group has no such site.")
      }
      return yield* Sites.site(site, rest.slice(3), request)
    default:
      return yield* Failure.unknownSegment(segment?.text ?? "")
  }
})
