/** Two pages now, and those after them another time: the number of the next page is kept. */
import { Octokit } from "octokit"

type Options = ConstructorParameters<typeof Octokit>[0]

export const main = async (
  owner: string,
  repo: string,
  kept = 1,
  options?: Options
) => {
  const octokit = new Octokit(options)
  const list = (page: number) =>
    octokit.rest.issues.listForRepo({ owner, repo, per_page: 2, page })
  const first = await list(kept)
  const hasNext = ({ headers }: typeof first) =>
    headers.link?.includes('rel="next"') === true
  const second = hasNext(first) ? await list(kept + 1) : undefined
  const issues = [...first.data, ...(second?.data ?? [])]
  for (const { number, state } of issues) console.log(number, state)
  const later = second !== undefined && hasNext(second) ? kept + 2 : undefined
  return { ids: issues.map(({ number }) => number), later }
}
