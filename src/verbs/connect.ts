// Requests on subresources that lead to what runs somewhere else.

import { AdmissionRequest } from '../admission/admission.js'
import { badRequest } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { ConnectionName } from '../api/definition.js'
import type { ApiObject } from '../api/object.js'
import { booleanParameter, integerParameter } from '../api/options/parameters.js'
import { type Engine, upToDate } from './engine.js'
import type { ConnectRequest, Location } from './special/signatures.js'
import { connections } from './special/special.js'

export interface Connecting extends ConnectRequest {
  readonly to: ConnectionName
}

/** Where a request goes on; undefined where there is nothing to go to. */
export async function connect(engine: Engine, call: Call, { to, ...request }: Connecting): Promise<Location | undefined> {
  // Nothing that runs somewhere else can be tried out.
  if (to !== 'log' && request.query.first('dryRun') !== undefined) throw badRequest('dryRun is not supported')
  await upToDate(engine, call)
  if (to !== 'log') await admit(engine, call, request)
  return connections[to]({ engine, call, ...request })
}

/** A connection is admitted with its options as the object. A log is read, and not connected to. */
async function admit(engine: Engine, call: Call, request: ConnectRequest): Promise<void> {
  const sent = new AdmissionRequest(call, 'CONNECT', { object: optionsOf(call, request), old: undefined })
  const admitted = sent.withObject((await engine.admission.mutate(sent)) ?? sent.object)
  await engine.admission.validate(admitted)
  call.throwIfAborted()
}

/** What the query says, as an object of the kind of the subresource. Of a proxy the path counts that was asked for. */
function optionsOf({ subresource }: Call, { query, subpath }: ConnectRequest): ApiObject {
  const said = Object.entries(subresource?.query?.fields ?? {}).flatMap(([name, { node }]): readonly (readonly [string, unknown])[] => {
    if (subresource?.name === 'proxy' && name === 'path') return subpath === '' ? [] : [[name, subpath]]
    if (query.first(name) === undefined) return []
    if (node.type === 'list') return [[name, query.all(name)]]
    if (node.type === 'boolean') return [[name, booleanParameter(query, name)]]
    return [[name, node.type === 'integer' ? integerParameter(query, name) : query.first(name)]]
  })
  return { kind: subresource?.type.kind, apiVersion: subresource?.type.apiVersion, ...Object.fromEntries(said) } as ApiObject
}
