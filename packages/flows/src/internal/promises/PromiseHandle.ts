/**
 * An execution of a flow, for programs without Effect.
 */
import * as Durable from "../../Durable.ts"
import type { Signal } from "../../Signals.ts"
import type { FlowDefinition } from "../body/FlowType.ts"
import type { Codec } from "../model/Values.ts"
import type { CallOptions, Calls } from "./Calls.ts"

/** An execution of a flow. */
export interface PromiseHandle<S> {
  readonly id: string
  readonly result: (options?: CallOptions) => Promise<S>
  readonly signal: <V extends Codec>(
    signal: Signal<V>,
    value: V["Type"],
    options?: Durable.SendOptions & CallOptions
  ) => Promise<void>
  readonly cancel: (options?: CallOptions) => Promise<void>
  readonly terminate: (options?: CallOptions) => Promise<void>
  readonly suspend: (options?: CallOptions) => Promise<void>
  readonly resume: (options?: CallOptions) => Promise<void>
  readonly retry: (options?: { readonly from?: string } & CallOptions) => Promise<void>
}

/** Resolves to the execution of a key. */
export const handleOf = async <I extends Codec, S extends Codec, E extends Codec>(
  { call }: Calls,
  flow: FlowDefinition<I, S, E>,
  key: string,
  finding?: CallOptions
): Promise<PromiseHandle<S["Type"]>> => {
  const handle = await call(Durable.handle(flow, key), finding)
  return {
    id: handle.id,
    result: (options) => call(handle.result, options, handle.id),
    signal: (signal, value, options) => call(handle.signal(signal, value, options), options),
    cancel: (options) => call(handle.cancel, options),
    terminate: (options) => call(handle.terminate, options),
    suspend: (options) => call(handle.suspend, options),
    resume: (options) => call(handle.resume(), options),
    retry: (options) => call(handle.retry(options), options)
  }
}
