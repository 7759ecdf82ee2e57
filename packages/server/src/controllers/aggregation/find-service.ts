// Resolves the Service of an APIService to an address, and reports a missing Service, port or endpoint with the messages of kube-apiserver.

import type { ServiceAddress } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Endpoints, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { ObjectStore } from '../../objects/object-store.js'

export interface ServiceFinder {
  readonly locate: (address: ServiceAddress) => string
  readonly findProblem: (address: ServiceAddress) => ServiceProblem | undefined
}

interface ServiceProblem {
  readonly reason: string
  readonly message: string
}

interface FinderParts {
  readonly store: ObjectStore
  readonly catalogs: Pick<CatalogSource, 'current'>
  /** Resolves to a ready endpoint and not to the cluster IP (--enable-aggregator-routing). */
  readonly toEndpoints: boolean
  readonly random?: () => number
}

export function serviceFinder({ store, catalogs, toEndpoints, random = Math.random }: FinderParts): ServiceFinder {
  const read = <T>(plural: string, { namespace, name }: ServiceAddress): T | undefined => {
    const resource = catalogs.current.find('', 'v1', plural)
    const stored = resource && store.read({ resource, namespace, name })
    return resource && stored && (stored.decode(resource) as T)
  }
  return {
    locate: (address) => {
      const service = read<Service>('services', address)
      if (service === undefined) throw new Error(`service ${JSON.stringify(address.name)} not found`)
      if (service.spec?.type === 'ExternalName') return `${service.spec.externalName ?? ''}:${address.port}`
      if (!toEndpoints) return clusterAddress(service, address)
      const { name } = portOf(service, address)
      return pickEndpoint(read<Endpoints>('endpoints', address), { service: address.name, portName: name ?? '', random })
    },
    findProblem: (address) => {
      const service = read<Service>('services', address)
      const description = `service/${address.name} in ${JSON.stringify(address.namespace)}`
      if (service === undefined) return { reason: 'ServiceNotFound', message: `${description} is not present` }
      // Ports and endpoints of other types of Service are not checked.
      if (service.spec?.type !== 'ClusterIP') return undefined
      const port = service.spec.ports?.find((each) => each.port === address.port)
      if (port === undefined) return { reason: 'ServicePortError', message: `${description} is not listening on port ${address.port}` }
      const endpoints = read<Endpoints>('endpoints', address)
      if (endpoints === undefined) return { reason: 'EndpointsNotFound', message: `cannot find endpoints for ${description}` }
      const portName = port.name ?? ''
      if (readySubsets(endpoints, portName).length > 0) return undefined
      const message = `endpoints for ${description} have no addresses with port name ${JSON.stringify(portName)}`
      return { reason: 'MissingEndpoints', message }
    },
  }
}

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number]
type Subset = NonNullable<Endpoints['subsets']>[number]

function portOf({ spec }: Service, { name, port }: ServiceAddress): ServicePort {
  const found = spec?.ports?.find((each) => each.port === port)
  if (found === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
  return found
}

function clusterAddress(service: Service, address: ServiceAddress): string {
  const { clusterIP = '' } = service.spec ?? {}
  if (clusterIP === 'None') throw new Error('cannot route to service with ClusterIP "None"')
  return `${bracketed(clusterIP)}:${portOf(service, address).port}`
}

const bracketed = (ip: string): string => (ip.includes(':') ? `[${ip}]` : ip)

const readySubsets = ({ subsets = [] }: Endpoints, portName: string): readonly Subset[] =>
  subsets.filter(({ addresses = [], ports = [] }) => addresses.length > 0 && ports.some(({ name = '' }) => name === portName))

interface EndpointChoice {
  readonly service: string
  readonly portName: string
  readonly random: () => number
}

function pickEndpoint(endpoints: Endpoints | undefined, { service, portName, random }: EndpointChoice): string {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const subset = pick(readySubsets(endpoints ?? {}, portName))
  const ip = pick(subset?.addresses ?? [])?.ip
  const port = subset?.ports?.find(({ name = '' }) => name === portName)?.port
  if (ip === undefined || port === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(service)}`)
  return `${bracketed(ip)}:${port}`
}
