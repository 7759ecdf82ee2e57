// Where a service answers that the server itself calls, such as a webhook: one of its endpoints, or the address that the cluster gives it.

import type { Endpoints, Service } from './v1.schema.js'

/** As configurations of webhooks name it. */
export interface ServiceReference {
  readonly namespace?: string
  readonly name?: string
  readonly port?: number
  readonly path?: string
}

export interface ServiceObjects {
  readonly readService: (namespace: string, name: string) => Service | undefined
  readonly readEndpoints: (namespace: string, name: string) => Endpoints | undefined
}

export interface ServiceAddress {
  readonly host: string
  readonly port: number
}

const usualPort = 443

/** The name that its certificate must have. */
export const serviceName = ({ namespace = '', name = '' }: ServiceReference): string => `${name}.${namespace}.svc`

/** The URL that stands for it; nobody looks its name up. */
export function serviceUrl(reference: ServiceReference): string {
  const { port = usualPort, path = '' } = reference
  return `https://${serviceName(reference)}:${port}${path.startsWith('/') ? path : `/${path}`}`
}

/** Throws one sentence where there is none. */
export function locateService({ namespace = '', name = '', port = usualPort }: ServiceReference, objects: ServiceObjects): ServiceAddress {
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
