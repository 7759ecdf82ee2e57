// Resource quotas: how much a namespace may hold, and how much it holds.

import { defineResource } from '../../api/definition.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sortTexts } from '../../base/text-order.js'
import { withChanged } from './pod-spec/missing-members.js'
import { roundedResources } from './pod-spec/quantities.js'
import { validateQuotaChange, validateQuotaSpec, validateQuotaStatus } from './resource-quota-rules.js'
import { type ResourceQuota, type ResourceQuotaStatus, resourceQuota as schema } from './v1.schema.js'

function defaults(quota: ResourceQuota): ResourceQuota {
  const next = withChanged(quota, 'spec', (spec) => withChanged(spec, 'hard', roundedResources))
  return withChanged(next, 'status', (status) => withChanged(withChanged(status, 'hard', roundedResources), 'used', roundedResources))
}

const limitPrefix = 'limits.'

/** `pods: 1/10, services: 0/5`, of the resources that are limits or of those that are not. */
function describeUsage({ hard = {}, used = {} }: ResourceQuotaStatus, { ofLimits }: { readonly ofLimits: boolean }): string {
  const names = Object.keys(hard).filter((name) => name.startsWith(limitPrefix) === ofLimits)
  return sortTexts(names)
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
    .join(', ')
}

export const resourceQuota = defineResource<ResourceQuota>({
  group: '',
  kind: 'ResourceQuota',
  resource: 'resourcequotas',
  shortNames: ['quota'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (quota) => ({ ...quota, status: {} }),
  prepareUpdate: (next, old) => ({ ...next, status: old.status ?? {} }),
  validate: (quota, context) => validateQuotaSpec(quota.spec ?? {}, 'spec', context.identity),
  validateUpdate: validateQuotaChange,
  checks: { update: ['metadataChange', 'own', 'ownChange'] },
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }),
      validateUpdate: (next, _old, { identity }) => validateQuotaStatus(next.status ?? {}, 'status', identity),
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      ageColumn,
      textColumn('Request', 'What is used of what may be requested.'),
      textColumn('Limit', 'What is used of what limits may add up to.'),
    ],
    cells: ({ metadata, status = {} }, { now }) => [
      metadata?.name ?? '',
      ageOf(metadata?.creationTimestamp, now),
      describeUsage(status, { ofLimits: false }),
      describeUsage(status, { ofLimits: true }),
    ],
  },
})
