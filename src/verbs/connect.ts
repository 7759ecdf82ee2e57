// Requests on subresources that lead to what runs somewhere else.

import { notFound } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { ConnectionName } from '../api/definition.js'
import { addressOf, type Engine, upToDate } from './engine.js'
import type { ConnectRequest } from './special/signatures.js'
import { connections } from './special/special.js'

export interface Connecting extends ConnectRequest {
  readonly to: ConnectionName
}

/** The text of an answer where there is one without going anywhere. */
export async function connect(engine: Engine, call: Call, { to, ...request }: Connecting): Promise<string> {
  await upToDate(engine, call)
  const object = engine.store.read(addressOf(call, plainName(call)))?.decode(call.resource)
  if (object === undefined) throw notFound(call.resource.subject, call.name)
  return connections[to]({ engine, call, object, ...request })
}

/** Paths of proxies may say how to speak and to which port: `https:name:port`. */
function plainName({ name }: Call): string {
  const parts = name.split(':')
  return (parts.length === 3 ? parts[1] : parts[0]) ?? ''
}
