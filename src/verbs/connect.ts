// Requests on subresources that lead to what runs somewhere else.

import { AdmissionRequest } from '../admission/admission.js'
import { notFound } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { ConnectionName } from '../api/definition.js'
import type { ApiObject } from '../api/object.js'
import { booleanParameter, integerParameter } from '../api/options/parameters.js'
import type { Query } from '../api/options/query.js'
import { addressOf, type Engine, upToDate } from './engine.js'
import type { ConnectRequest } from './special/signatures.js'
import { connections } from './special/special.js'

export interface Connecting extends ConnectRequest {
  readonly to: ConnectionName
}

/** The text of an answer where there is one without going anywhere. */
export async function connect(engine: Engine, call: Call, { to, ...request }: Connecting): Promise<string> {
  await upToDate(engine, call)
  if (to !== 'log') await admit(engine, call, request.query)
  const object = engine.store.read(addressOf(call, plainName(call)))?.decode(call.resource)
  if (object === undefined) throw notFound(call.resource.subject, call.name)
  return connections[to]({ engine, call, object, ...request })
}

/** A connection is admitted with its options as the object. A log is read, and not connected to. */
async function admit(engine: Engine, call: Call, query: Query): Promise<void> {
  const sent = new AdmissionRequest(call, 'CONNECT', { object: optionsOf(call, query), old: undefined })
  const admitted = sent.withObject((await engine.admission.mutate(sent)) ?? sent.object)
  await engine.admission.validate(admitted)
  call.throwIfAborted()
}

/** What the query says, as an object of the kind of the subresource. */
function optionsOf({ subresource }: Call, query: Query): ApiObject {
  const said = Object.entries(subresource?.query?.fields ?? {}).flatMap(([name, { node }]): readonly (readonly [string, unknown])[] => {
    if (query.first(name) === undefined) return []
    if (node.type === 'list') return [[name, query.all(name)]]
    if (node.type === 'boolean') return [[name, booleanParameter(query, name)]]
    return [[name, node.type === 'integer' ? integerParameter(query, name) : query.first(name)]]
  })
  return { kind: subresource?.type.kind, apiVersion: subresource?.type.apiVersion, ...Object.fromEntries(said) } as ApiObject
}

/** Paths of proxies may say how to speak and to which port: `https:name:port`. */
function plainName({ name }: Call): string {
  const parts = name.split(':')
  return (parts.length === 3 ? parts[1] : parts[0]) ?? ''
}
