/**
 * What a body says of its execution, states and feeds, and what its steps say, which is feeds alone. They are no operations: the branch
 * does not park, and the journal gets no entry.
 */
import * as Effect from "effect/Effect"
import { FlowDefect } from "../../../FlowDefect.ts"
import type { Answering, Saying } from "../../body/Position.ts"
import { type Codec, recordSaid } from "../../model/Values.ts"
import type { Caller, Services } from "./Caller.ts"
import type { Report } from "./Spec.ts"

const unlisted = (name: string) =>
  new FlowDefect({
    message: `the flow says ${name} and does not list it: put it into the \`states\` of Flow.make, also of a flow that calls this one`
  })

const notInStep = (name: string) =>
  new FlowDefect({
    message:
      `the state ${name} was set in the run of a step: set it in the run of Flow.make. A step appends to feeds, and reports with ` +
      "Flow.progress and Flow.details"
  })

const keep = ({ append, set }: Services, address: string, said: Saying<Codec>, json: Parameters<Services["set"]>[1]) =>
  said.keeps === null ? set(address, json) : append({ name: said.name, ...said.keeps }, json)

const whatOf = ({ keeps, name }: Saying<Codec>, address = name) =>
  keeps === null ? `the state ${address}` : `an item of the feed ${address}`

/** Sets a state or appends to a feed, unless the record shows that it was said before. */
export const say = <S extends Codec>({ services }: Caller, address: string, said: Saying<S>): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { durable, isNew, replays, says } = services
    if (!says.has(said.name)) return Effect.die(unlisted(said.name))
    if (replays || (durable && !isNew())) return Effect.void
    return Effect.map(recordSaid(said.schema, said.value, whatOf(said, address)), ({ json }) => {
      // A script has nowhere to keep it.
      if (durable) keep(services, address, said, json)
    })
  })

/** Appends to a feed from the code of a step. A state has one owner, the body. */
export const sayInStep = <S extends Codec>(
  { durable, says }: Services,
  { append }: Report,
  said: Saying<S>
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { keeps, name, schema, value } = said
    if (!says.has(name)) return Effect.die(unlisted(name))
    if (keeps === null) return Effect.die(notInStep(name))
    return Effect.flatMap(recordSaid(schema, value, whatOf(said)), ({ json }) =>
      durable ? append({ name, ...keeps }, json) : Effect.void
    )
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
