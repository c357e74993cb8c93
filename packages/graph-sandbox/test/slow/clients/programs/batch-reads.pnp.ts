/** Twenty people in one request. One who does not exist is a result, too. */
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import { graphfi } from "../support/pnp.ts"

export const main = async (
  names: ReadonlyArray<string>,
  baseUrl: string,
  token: string
) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const [batched, execute] = graph.batched()
  const results = Promise.allSettled(
    names.map(async (name) => batched.users.getById(name)())
  )
  await execute()
  const settled = await results
  return names.filter((_, index) => settled[index]?.status !== "fulfilled")
}
