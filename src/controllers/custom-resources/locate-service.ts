// Where a service answers that a webhook is behind: one of its endpoints, or the address that the cluster gives it.

import type { CatalogSource } from '../../api/catalog-source.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { Endpoints, Service } from '../../resources/core/v1.schema.js'
import type { LocateService } from './conversion-webhook.js'

const usualPort = 443

export const serviceLocator =
  (store: ObjectStore, catalogs: Pick<CatalogSource, 'current'>): LocateService =>
  ({ namespace = '', name = '', port = usualPort, path = '' }) => {
    const read = <T>(plural: string): T | undefined => {
      const resource = catalogs.current.find('', 'v1', plural)
      return resource === undefined ? undefined : (store.read({ resource, namespace, name })?.decode(resource) as T | undefined)
    }
    const service = read<Service>('services')
    if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`)
    const entry = service.spec?.ports?.find((candidate) => candidate.port === port)
    if (entry === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
    const host = service.spec?.type === 'ExternalName' ? `${service.spec.externalName}:${port}` : undefined
    const address = host ?? endpointOf(read<Endpoints>('endpoints'), entry.name) ?? clusterAddress(service, port)
    if (address === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
    const root = path === '' || path.startsWith('/') ? path : `/${path}`
    return { url: `https://${address}${root}`, serverName: `${name}.${namespace}.svc` }
  }

const bracketed = (ip: string): string => (ip.includes(':') ? `[${ip}]` : ip)

function endpointOf(endpoints: Endpoints | undefined, portName: string | undefined): string | undefined {
  for (const { addresses = [], ports = [] } of endpoints?.subsets ?? []) {
    const port = ports.find(({ name }) => (name ?? '') === (portName ?? ''))
    const ip = addresses[0]?.ip
    if (port?.port !== undefined && ip !== undefined) return `${bracketed(ip)}:${port.port}`
  }
  return undefined
}

function clusterAddress({ spec }: Service, port: number): string | undefined {
  const ip = spec?.clusterIP
  return ip === undefined || ip === '' || ip === 'None' ? undefined : `${bracketed(ip)}:${port}`
}
