// Description of Services with their endpoints.

import type { Endpoints, Service } from '@cluster-apiserver/client/typed/types.js'
import { labelEntries, textOr } from './common-fields.js'
import { type Entry, listOrNone, none, pairsOf } from './description.js'
import type { DescribeContext } from './related-objects.js'

export async function describeService(object: Service, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, spec = {}, status } = object
  const found = await context.list<Endpoints>('endpoints', metadata?.namespace, { fieldSelector: `metadata.name=${metadata?.name ?? ''}` })
  const ports = (spec.ports ?? []).flatMap(({ name, port, protocol = 'TCP', targetPort, nodePort }): readonly Entry[] => [
    ['Port', `${textOr(name, '<unset>')}  ${port}/${protocol}`],
    ['TargetPort', `${String(targetPort ?? port)}/${protocol}`],
    ['NodePort', nodePort === undefined || nodePort === 0 ? undefined : `${textOr(name, '<unset>')}  ${nodePort}/${protocol}`],
    ['Endpoints', found === undefined ? '<unknown>' : addressesOf(found[0], name ?? '')],
  ])
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '')
  return [
    ...labelEntries(object),
    ['Selector', pairsOf(spec.selector).join(',')],
    ['Type', textOr(spec.type)],
    ['IP Family Policy', spec.ipFamilyPolicy],
    ['IP Families', textOr((spec.ipFamilies ?? []).join(','))],
    ['IP', spec.clusterIP ?? ''],
    ['IPs', textOr((spec.clusterIPs ?? []).join(','))],
    ['External IPs', spec.externalIPs === undefined ? undefined : spec.externalIPs.join(',')],
    ['IP', spec.loadBalancerIP || undefined],
    ['External Name', spec.externalName],
    ['LoadBalancer Ingress', ingress.length === 0 ? undefined : listOrNone(ingress)],
    ...ports,
    ['Session Affinity', textOr(spec.sessionAffinity)],
    ['External Traffic Policy', spec.externalTrafficPolicy || undefined],
    ['HealthCheck NodePort', spec.healthCheckNodePort ? String(spec.healthCheckNodePort) : undefined],
    ['LoadBalancer Source Ranges', spec.loadBalancerSourceRanges === undefined ? undefined : spec.loadBalancerSourceRanges.join(',')],
  ]
}

const maxShownAddresses = 3

export function addressesOf(endpoints: Endpoints | undefined, port: string | undefined): string {
  const addressList = (endpoints?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
    ports
      .filter(({ name = '' }) => port === undefined || name === port)
      .flatMap((endpointPort) => addresses.map(({ ip }) => `${ip}:${endpointPort.port}`)),
  )
  if (addressList.length === 0) return none
  return `${addressList.slice(0, maxShownAddresses).join(',')}${addressList.length > maxShownAddresses ? ` + ${addressList.length - maxShownAddresses} more...` : ''}`
}
