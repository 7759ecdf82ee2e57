// Ingresses: which requests from outside go to which services.

import { defineResource } from '../../api/definition.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { describeBalancer, validateBalancerStatus } from '../core/balancer-status.js'
import { validateIngressChange, validateNewIngress } from './ingress-rules.js'
import { type Ingress, type IngressRule, ingressSpec, ingress as schema } from './v1.schema.js'

function prepareUpdate(next: Ingress, old: Ingress): Ingress {
  const kept = { ...next, status: old.status ?? { loadBalancer: {} } }
  return sameBySchema(ingressSpec, next.spec ?? {}, old.spec ?? {}) ? kept : asNextGeneration(kept, old)
}

const shownHosts = 3

/** The first hosts, and how many rules there are besides. */
function describeHosts(rules: readonly IngressRule[] = []): string {
  const shown: string[] = []
  let isCut = false
  for (const { host = '' } of rules) {
    if (shown.length === shownHosts) isCut = true
    else if (host !== '') shown.push(host)
  }
  const text = shown.join(',') || '*'
  return isCut ? `${text} + ${rules.length - shownHosts} more...` : text
}

export const ingress = defineResource<Ingress>({
  group: { stem: 'networking' },
  errorGroup: 'extensions',
  kind: 'Ingress',
  resource: 'ingresses',
  shortNames: ['ing'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  prepareCreate: (object) => asFirstGeneration({ ...object, status: { loadBalancer: {} } }),
  prepareUpdate,
  validate: validateNewIngress,
  validateUpdate: validateIngressChange,
  checks: { update: ['metadataChange', 'metadata', 'ownChange'] },
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }),
      validateUpdate: (next) => validateBalancerStatus(next.status?.loadBalancer?.ingress, 'status.loadBalancer'),
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      textColumn('Class', 'Who implements the ingress.'),
      textColumn('Hosts', 'Hosts whose requests it takes.'),
      textColumn('Address', 'Where it listens.'),
      textColumn('Ports', 'Ports on which it listens.'),
      ageColumn,
    ],
    cells: ({ metadata, spec, status }, { now }) => [
      metadata?.name ?? '',
      spec?.ingressClassName ?? '<none>',
      describeHosts(spec?.rules),
      describeBalancer(status?.loadBalancer?.ingress).join(','),
      (spec?.tls ?? []).length > 0 ? '80, 443' : '80',
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
