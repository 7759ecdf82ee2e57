// Classes of resources: which driver allocates, with which parameters, and on which nodes.

import { defineResource } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkText } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { dnsLabel } from '../../api/validation/text-rules.js'
import { validateNodeSelector } from '../core/node-selector.js'
import { validateParametersReference } from './claim-spec.js'
import { validateDriverName } from './driver-name.js'
import { type ResourceClass, type ResourceClassParametersReference, resourceClass as schema } from './v1alpha1.schema.js'

function validate({ driverName = '', parametersRef, suitableNodes }: ResourceClass): readonly FieldError[] {
  return [
    ...validateDriverName(driverName, 'driverName'),
    ...(parametersRef === undefined ? [] : validateParameters(parametersRef, 'parametersRef')),
    ...(suitableNodes === undefined ? [] : validateNodeSelector(suitableNodes, 'suitableNodes')),
  ]
}

/** A class belongs to no namespace, so its parameters say in which one they lie. */
function validateParameters(reference: ResourceClassParametersReference, field: string): readonly FieldError[] {
  const { namespace = '' } = reference
  return [
    ...validateParametersReference(reference, field),
    ...(namespace === '' ? [] : checkText(namespace, `${field}.namespace`, dnsLabel)),
  ]
}

export const resourceClass = defineResource<ResourceClass>({
  group: { stem: 'resource' },
  kind: 'ResourceClass',
  resource: 'resourceclasses',
  namespaced: false,
  gate: 'DynamicResourceAllocation',
  versions: [{ name: 'v1alpha1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate,
  checks: { update: ['metadata', 'own', 'metadataChange', 'metadata', 'own'] },
  deleteReturnsObject: true,
  table: {
    columns: [nameColumn, textColumn('DriverName', 'The driver that allocates.'), ageColumn],
    cells: ({ metadata, driverName }, { now }) => [metadata?.name ?? '', driverName ?? '', ageOf(metadata?.creationTimestamp, now)],
  },
})
