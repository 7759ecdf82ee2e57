// How much storage of a class there is still to be had in some part of the cluster.

import { defineResource } from '../../api/definition.js'
import type { FieldError } from '../../api/field-error.js'
import { checkPart, joined } from '../../api/validation/collect.js'
import { checkText, checkUnchanged } from '../../api/validation/fields.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { oldNodeLabels, selectorWarnings } from '../core/old-node-labels.js'
import { checkQuantityNotNegative } from '../core/pod-spec/quantities.js'
import { type CSIStorageCapacity, csiStorageCapacity as schema } from './v1.schema.js'
import { csiStorageCapacity as betaSchema } from './v1beta1.schema.js'

const validate = ({ nodeTopology, storageClassName = '', capacity }: CSIStorageCapacity): readonly FieldError[] =>
  joined(
    validateLabelSelector(nodeTopology, 'nodeTopology'),
    checkText(storageClassName, 'storageClassName', dnsSubdomain),
    checkPart(capacity, 'capacity', checkQuantityNotNegative),
  )

/** What was asked for stays; only the answer changes. */
const validateUpdate = (next: CSIStorageCapacity, old: CSIStorageCapacity): readonly FieldError[] =>
  joined(
    checkUnchanged(next.nodeTopology, old.nodeTopology, 'nodeTopology'),
    checkUnchanged(next.storageClassName, old.storageClassName, 'storageClassName'),
  )

/** Without columns of its own: its name is made up by a program, and says nothing. */
export const csiStorageCapacity = defineResource<CSIStorageCapacity>({
  group: { stem: 'storage' },
  kind: 'CSIStorageCapacity',
  resource: 'csistoragecapacities',
  namespaced: true,
  versions: [
    { name: 'v1', schema, stored: true },
    {
      name: 'v1beta1',
      schema: betaSchema,
      deprecation: {
        deprecatedIn: '1.24',
        removedIn: '1.27',
        replacement: { group: { stem: 'storage' }, version: 'v1', kind: 'CSIStorageCapacity' },
      },
    },
  ],
  nameProblems: dnsSubdomainProblems,
  validate,
  validateUpdate,
  // A new one is looked at twice, as in the reference.
  checks: { create: ['metadata', 'own', 'metadata', 'own'], update: ['metadata', 'own', 'metadataChange', 'ownChange'] },
  warnings: ({ nodeTopology }, _, { identity }) =>
    nodeTopology === undefined ? [] : selectorWarnings(nodeTopology, 'nodeTopology', oldNodeLabels(identity)),
  versionRequiredOnUpdate: true,
})
