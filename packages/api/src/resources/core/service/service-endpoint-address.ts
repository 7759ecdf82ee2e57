// Address of a Service that the server calls (webhooks, aggregated API servers, proxy): external name, ready endpoint or cluster IP.

import { defineConnection } from '../../../api/definition/define-virtual.js'
import type { ConnectionName, SubresourceDefinition } from '../../../api/definition/resource-definition.js'
import type { StructNode } from '../../../schema/node.js'
import type { Endpoints, Service } from '../v1.schema.js'

interface ServiceReference {
  readonly namespace?: string
  readonly name?: string
  readonly port?: number
  readonly path?: string
}

export interface ServiceObjects {
  readonly readService: (namespace: string, name: string) => Service | undefined
  readonly readEndpoints: (namespace: string, name: string) => Endpoints | undefined
}

interface ServiceAddress {
  readonly host: string
  readonly port: number
}

const defaultPort = 443

export const serviceName = ({ namespace = '', name = '' }: ServiceReference): string => `${name}.${namespace}.svc`

/** Origin with the DNS name of the Service, which the server does not resolve. Always contains the port. */
export const serviceOrigin = (reference: ServiceReference): string => `https://${serviceName(reference)}:${reference.port ?? defaultPort}`

export function serviceUrl(reference: ServiceReference): string {
  const { path = '' } = reference
  return `${serviceOrigin(reference)}${path.startsWith('/') ? path : `/${path}`}`
}

export function locateService(
  { namespace = '', name = '', port = defaultPort }: ServiceReference,
  objects: ServiceObjects,
): ServiceAddress {
  const service = objects.readService(namespace, name)
  if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`)
  const { type, externalName = '', ports = [], clusterIP = '' } = service.spec ?? {}
  const entry = ports.find((candidate) => candidate.port === port)
  if (entry === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
  if (type === 'ExternalName') return { host: externalName, port }
  const endpoint = endpointOf(objects.readEndpoints(namespace, name), entry.name)
  if (endpoint !== undefined) return endpoint
  if (clusterIP === '' || clusterIP === 'None') throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
  return { host: clusterIP, port }
}

function endpointOf(endpoints: Endpoints | undefined, portName = ''): ServiceAddress | undefined {
  for (const { addresses = [], ports = [] } of endpoints?.subsets ?? []) {
    const port = ports.find(({ name = '' }) => name === portName)?.port
    const host = addresses[0]?.ip
    if (port !== undefined && host !== undefined) return { host, port }
  }
  return undefined
}

export const proxySubresource = (connection: ConnectionName, query: StructNode): SubresourceDefinition =>
  defineConnection({ name: 'proxy', connection, verbs: ['create', 'delete', 'get', 'patch', 'update'], query })
