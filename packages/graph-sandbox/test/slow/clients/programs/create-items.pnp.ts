/** Makes an item of a list of each row, in requests of twenty, and says of each row what became of it. */
import { GraphDefault } from "@pnp/nodejs"
import { HttpRequestError, InjectHeaders } from "@pnp/queryable"
import { graphfi } from "../support/pnp.ts"

interface Book {
  readonly Title: string
  readonly Pages?: number
  readonly Read?: Date
}

export const main = async (
  address: string,
  books: ReadonlyArray<Book>,
  baseUrl: string,
  token: string
) => {
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const { hostname, pathname } = new URL(address)
  const site = await (await graph.sites.getByUrl(hostname, pathname))()
  const [batched, execute] = graph.batched()
  const results = Promise.all(
    books.map(async (fields: object) => {
      const { items } = batched.sites
        .getById(site.id ?? "")
        .lists.getById("Books")
      return items.add({ fields }).then(
        ({ id }) => String(id),
        async (error) => {
          if (!(error instanceof HttpRequestError)) throw error
          return (await error.response.json()).error.code
        }
      )
    })
  )
  await execute()
  return results
}
