// Services, with the addresses behind them.

import type { Endpoints, Service } from '../../client/typed/types.js'
import { labelEntries, textOr } from './common.js'
import type { DescribeContext } from './context.js'
import { type Entry, listOrNone, none, pairsOf } from './entry.js'

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

const mostShown = 3

/** Of one port, or of all. */
export function addressesOf(endpoints: Endpoints | undefined, port: string | undefined): string {
  const all = (endpoints?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
    ports.filter(({ name = '' }) => port === undefined || name === port).flatMap((one) => addresses.map(({ ip }) => `${ip}:${one.port}`)),
  )
  if (all.length === 0) return none
  return `${all.slice(0, mostShown).join(',')}${all.length > mostShown ? ` + ${all.length - mostShown} more...` : ''}`
}
