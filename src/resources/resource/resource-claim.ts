// Claims for resources that a driver allocates. The spec is written once, by the claimant; the status by driver and scheduler.

import { defineResource } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkUnchanged } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { validateClaimSpec, withAllocationMode } from './claim-spec.js'
import { validateClaimStatus } from './claim-status.js'
import { type ResourceClaim, resourceClaim as schema } from './v1alpha1.schema.js'

function defaults(claim: ResourceClaim): ResourceClaim {
  const spec = withAllocationMode(claim.spec ?? {})
  return spec === claim.spec ? claim : { ...claim, spec }
}

const validateUpdate = (next: ResourceClaim, old: ResourceClaim): readonly FieldError[] =>
  checkUnchanged(next.spec ?? {}, old.spec ?? {}, 'spec')

/** Where the claim stands, as the table shows it. */
function describeState({ metadata, status }: ResourceClaim): string {
  const isDeleted = metadata?.deletionTimestamp !== undefined
  const isAllocated = status?.allocation !== undefined
  const states = [
    isDeleted && 'deleted',
    !isAllocated && !isDeleted && 'pending',
    isAllocated && 'allocated',
    isAllocated && (status?.reservedFor ?? []).length > 0 && 'reserved',
  ]
  return states.filter((state) => state !== false).join(',')
}

export const resourceClaim = defineResource<ResourceClaim>({
  group: { stem: 'resource' },
  kind: 'ResourceClaim',
  resource: 'resourceclaims',
  namespaced: true,
  gate: 'DynamicResourceAllocation',
  versions: [{ name: 'v1alpha1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (claim) => ({ ...claim, status: {} }),
  prepareUpdate: (next, old) => ({ ...next, status: old.status ?? {} }),
  validate: (claim) => validateClaimSpec(claim.spec ?? {}, 'spec'),
  validateUpdate,
  checks: { update: ['metadata', 'own', 'metadataChange', 'ownChange', 'metadata', 'own'] },
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }),
      validateUpdate: validateClaimStatus,
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      textColumn('ResourceClassName', 'The class that names the driver.'),
      textColumn('AllocationMode', 'When allocation starts.'),
      textColumn('State', 'Whether the resource is allocated and reserved.'),
      ageColumn,
    ],
    cells: (claim, { now }) => [
      claim.metadata?.name ?? '',
      claim.spec?.resourceClassName ?? '',
      claim.spec?.allocationMode ?? '',
      describeState(claim),
      ageOf(claim.metadata?.creationTimestamp, now),
    ],
  },
})
