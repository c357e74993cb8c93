/** Who is signed in, and how full the drive is. */
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import { graphfi } from "../support/pnp.ts"

export const main = async (baseUrl: string, token: string) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const { displayName, mail } = await graph.me()
  const { driveType, quota } = await graph.me.drive()
  return `${displayName} <${mail}>, ${driveType} drive, ${quota?.used} bytes used`
}
