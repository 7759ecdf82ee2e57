// How a table shows services: where each is reached, from within the cluster and from outside.

import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { describeBalancer } from './balancer-status.js'
import { describeLabels } from './label-text.js'
import type { Service, ServicePort } from './v1.schema.js'

const none = '<none>'

function describeExternal({ spec = {}, status }: Service): string {
  const { externalIPs = [] } = spec
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.length === 0 ? none : externalIPs.join(',')
    case 'LoadBalancer':
      return [...describeBalancer(status?.loadBalancer?.ingress), ...externalIPs].join(',') || '<pending>'
    case 'ExternalName':
      return spec.externalName ?? ''
    default:
      return '<unknown>'
  }
}

const describePort = ({ port = 0, nodePort = 0, protocol = '' }: ServicePort): string =>
  nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`

export const serviceTable = {
  columns: [
    nameColumn,
    textColumn('Type', 'How the service is exposed.'),
    textColumn('Cluster-IP', 'Address within the cluster.'),
    textColumn('External-IP', 'Addresses or name outside of the cluster.'),
    textColumn('Port(s)', 'Ports, with those on the nodes behind a colon.'),
    ageColumn,
    textColumn('Selector', 'Labels of the pods behind the service.', 1),
  ],
  cells: (service: Service, { now }: { readonly now: number }): readonly unknown[] => {
    const { metadata, spec = {} } = service
    return [
      metadata?.name ?? '',
      spec.type ?? '',
      spec.clusterIPs?.[0] ?? none,
      describeExternal(service),
      (spec.ports ?? []).map(describePort).join(',') || none,
      ageOf(metadata?.creationTimestamp, now),
      describeLabels(spec.selector),
    ]
  },
}
