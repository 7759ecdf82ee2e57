// Ways to what runs somewhere else: logs, commands, ports, proxies. This server reaches no node, and says so as precisely as one can that has
// looked for the way.

import { type ApiError, badRequest, invalid, notFound, notThere } from '../../api/api-error.js'
import { type FieldError, forbidden, invalid as invalidField } from '../../api/field-error.js'
import type { ApiObject } from '../../api/object.js'
import { integerParameter } from '../../api/options/parameters.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'
import { checkReachableIp } from '../../api/validation/ip.js'
import type { Connect, Way } from './signatures.js'

interface Pod extends ApiObject {
  readonly spec?: {
    readonly nodeName?: string
    readonly containers?: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly ephemeralContainers?: readonly Container[]
  }
  readonly status?: { readonly podIPs?: readonly { readonly ip?: string }[] }
}

interface Container {
  readonly name?: string
}

export const attachTo: Connect = (way) => {
  checkContainer(way)
  throw upgraded(way)
}

export const forwardPorts: Connect = (way) => {
  throw upgraded(way)
}

/** A pod that was never placed has no log. */
export const readLog: Connect = (way) => {
  checkLogOptions(way)
  checkContainer(way)
  const node = nodeOf(way)
  if (node === '') return ''
  throw beyond(way, node)
}

/** Whoever may reach pods through the server may not reach the server's own machine and its neighbours that way. */
export const proxyToPod: Connect = (way) => {
  const address = (way.object as Pod).status?.podIPs?.[0]?.ip ?? ''
  if (checkReachableIp(address, '').length > 0) throw badRequest('address not allowed')
  throw beyond(way, nodeOf(way))
}

export const proxyToService: Connect = ({ call }) => {
  throw notThere(`no endpoints available for service ${JSON.stringify(call.name)}`)
}

export const proxyToNode: Connect = ({ call }) => {
  throw unreachable(call.name)
}

const nodeOf = ({ object }: Way): string => (object as Pod).spec?.nodeName ?? ''

/** Why one cannot go on to a node. */
function beyond({ engine, catalog }: Way, node: string): ApiError {
  const nodes = catalog.find('', 'v1', 'nodes')
  const isKnown = node === '' || nodes === undefined || engine.store.read({ resource: nodes, namespace: '', name: node }) !== undefined
  return isKnown ? unreachable(node) : notFound(nodes.subject, node)
}

/** The same for those who must speak another protocol there. */
function upgraded(way: Way): ApiError {
  const node = nodeOf(way)
  if (node === '') return badRequest(`pod ${way.call.name} does not have a host assigned`)
  const error = beyond(way, node)
  return error.status.code === 404 || way.isUpgrade ? error : badRequest('Upgrade request required')
}

/** Looked at before anything else: they are wrong whatever the pod is like. */
function checkLogOptions({ call, query }: Way): void {
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

function checkContainer({ call, object, query }: Way): void {
  const { spec } = object as Pod
  const wanted = query.first('container') ?? ''
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
  notThere(`error trying to reach service: no node can be reached from this server${node === '' ? '' : ` (${node})`}`)
