// Connections to what runs somewhere else: logs, commands, ports, proxies. This server reaches no node, and says so as
// precisely as one can that has looked for the way.

import { type ApiError, badRequest, invalid, notFound, unavailable } from '../../api/api-error.js'
import type { Catalog } from '../../api/catalog.js'
import { type FieldError, forbidden, invalid as invalidField } from '../../api/field-error.js'
import type { ApiObject } from '../../api/object.js'
import { integerParameter } from '../../api/options/parameters.js'
import type { Query } from '../../api/options/query.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'
import { addressOf, type Call, type Engine, upToDate } from '../engine.js'

export interface ConnectRequest {
  readonly catalog: Catalog
  readonly query: Query
  /** Whether the client asks to speak another protocol from here on. */
  readonly isUpgrade: boolean
}

const connections = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

export const isConnection = (subresource: string): boolean => connections.has(subresource)

interface Pod extends ApiObject {
  readonly spec?: {
    readonly nodeName?: string
    readonly containers?: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly ephemeralContainers?: readonly Container[]
  }
}

interface Container {
  readonly name?: string
}

/** The text of an answer where there is one without any node: a pod that was never placed has no log. */
export async function connect(engine: Engine, call: Call, request: ConnectRequest): Promise<string> {
  await upToDate(engine)
  const object = engine.store.read(addressOf(call, plainName(call)))?.decode(call.resource)
  if (object === undefined) throw notFound(call.resource.subject, call.name)
  const subresource = call.subresource?.name ?? ''
  if (call.resource.name === 'services') throw unavailable(`no endpoints available for service ${JSON.stringify(call.name)}`)
  if (call.resource.name === 'pods') return connectPod(engine, call, { ...request, pod: object, subresource })
  throw unreachable(call.name)
}

/** Paths of proxies may say how to speak and to which port: `https:name:port`. */
function plainName({ name }: Call): string {
  const parts = name.split(':')
  return (parts.length === 3 ? parts[1] : parts[0]) ?? ''
}

interface PodConnection extends ConnectRequest {
  readonly pod: Pod
  readonly subresource: string
}

function connectPod(engine: Engine, call: Call, { pod, subresource, query, catalog, isUpgrade }: PodConnection): string {
  if (subresource === 'log') checkLogOptions(call, query)
  if (subresource === 'log' || subresource === 'exec' || subresource === 'attach') checkContainer(call, pod, query.first('container') ?? '')
  const node = pod.spec?.nodeName ?? ''
  if (node === '' && subresource === 'log') return ''
  if (node === '' && subresource !== 'proxy') throw badRequest(`pod ${call.name} does not have a host assigned`)
  const nodes = catalog.find('', 'v1', 'nodes')
  if (node !== '' && nodes !== undefined && engine.store.read({ resource: nodes, namespace: '', name: node }) === undefined)
    throw notFound(nodes.subject, node)
  if (!isUpgrade && (subresource === 'exec' || subresource === 'attach' || subresource === 'portforward'))
    throw badRequest('Upgrade request required')
  throw unreachable(node)
}

/** Looked at before anything else: they are wrong whatever the pod is like. */
function checkLogOptions(call: Call, query: Query): void {
  const sinceSeconds = integerParameter(query, 'sinceSeconds')
  const tailLines = integerParameter(query, 'tailLines')
  const limitBytes = integerParameter(query, 'limitBytes')
  const errors = joined(
    checkNotNegative(tailLines ?? 0, 'tailLines'),
    limitBytes === undefined || limitBytes > 0 ? noErrors : [invalidField('limitBytes', limitBytes, 'must be greater than 0')],
    checkSince(sinceSeconds, query.first('sinceTime') ?? ''),
  )
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, call.name, errors)
}

function checkSince(seconds: number | undefined, time: string): readonly FieldError[] {
  if (seconds === undefined) return noErrors
  if (time !== '') return [forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified')]
  return seconds > 0 ? noErrors : [invalidField('sinceSeconds', seconds, 'must be greater than 0')]
}

function checkContainer(call: Call, { spec }: Pod, wanted: string): void {
  const names = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])].map(
    ({ name = '' }) => name,
  )
  if (wanted === '' && (spec?.containers?.length ?? 0) > 1) {
    throw badRequest(
      `a container name must be specified for pod ${call.name}, choose one of: [${(spec?.containers ?? []).map(({ name }) => name).join(' ')}]`,
    )
  }
  if (wanted !== '' && !names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${call.name}`)
}

const unreachable = (node: string): ApiError =>
  unavailable(`error trying to reach service: no node can be reached from this server${node === '' ? '' : ` (${node})`}`)
