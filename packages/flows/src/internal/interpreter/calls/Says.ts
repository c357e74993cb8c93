/**
 * What a body says of its execution: states and feeds. They are no operations: the branch does not park, and the journal gets no entry.
 */
import * as Effect from "effect/Effect"
import { FlowDefect } from "../../../FlowDefect.ts"
import type { Answering, Saying } from "../../body/Position.ts"
import { type Codec, recordSaid } from "../../model/Values.ts"
import type { Caller, Services } from "./Caller.ts"

const unlisted = (name: string) =>
  new FlowDefect({
    message: `the flow says ${name} and does not list it: put it into the \`states\` of Flow.make, also of a flow that calls this one`
  })

const keep = ({ append, set }: Services, address: string, said: Saying<Codec>, json: Parameters<Services["set"]>[1]) =>
  said.keeps === null ? set(address, json) : append({ name: said.name, ...said.keeps }, json)

/** Sets a state or appends to a feed, unless the record shows that it was said before. */
export const say = <S extends Codec>({ services }: Caller, address: string, said: Saying<S>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { durable, isNew, replays, says } = services
    if (!says.has(said.name)) return Effect.die(unlisted(said.name))
    if (replays || (durable && !isNew())) return Effect.void
    const what = said.keeps === null ? `the state ${address}` : `an item of the feed ${address}`
    return Effect.map(recordSaid(said.schema, said.value, what), ({ json }) => {
      // A script has nowhere to keep it.
      if (durable) keep(services, address, said, json)
    })
  })

/** Answers a request that the body has received, unless the record shows that it was answered before. */
export const answer = <S extends Codec>(
  { services }: Caller,
  { id, name, schema, state, value }: Answering<S>
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { answer, durable, isLive, replays } = services
    const given = answer({ name, id })
    if (given === null) {
      const message = `the request ${name} with the id ${id} was answered before, or its chapter has ended: a request has one answer`
      return Effect.die(new FlowDefect({ message }))
    }
    if (replays || (durable && !isLive())) return Effect.void
    return Effect.map(recordSaid(schema, value, `the answer to the request ${name}`), ({ json }) => {
      if (durable) given({ state, value: json })
    })
  })
