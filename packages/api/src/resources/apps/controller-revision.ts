// Revisions of what a controller made its pods from, kept so that it can go back. A revision does not change.

import { defineResource } from '../../api/definition.js'
import { type FieldError, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import type { ObjectMeta } from '../../api/object.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { checkNotNegative, checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { type ControllerRevision, controllerRevision as schema } from './v1.schema.js'

const validate = ({ data, revision = 0 }: ControllerRevision): readonly FieldError[] =>
  joined(data === undefined ? [required('data', 'data is mandatory')] : noErrors, checkNotNegative(revision, 'revision'))

/** Such as `statefulset.apps/web`. */
function describeController(metadata: ObjectMeta | undefined): string {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true)
  if (owner === undefined) return '<none>'
  const { apiVersion = '', kind = '', name = '' } = owner
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/', 1)[0]}` : ''
  return `${`${kind}${group}`.toLowerCase()}/${name}`
}

export const controllerRevision = defineResource<ControllerRevision>({
  group: 'apps',
  kind: 'ControllerRevision',
  resource: 'controllerrevisions',
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate,
  validateUpdate: (next, old) => checkUnchanged(next.data, old.data, 'data'),
  checks: { update: ['metadataChange', 'metadata', 'own', 'ownChange'] },
  table: {
    columns: [
      nameColumn,
      textColumn('Controller', 'The controller whose revision it is.'),
      textColumn('Revision', 'Which revision it is, counted up.'),
      ageColumn,
    ],
    cells: ({ metadata, revision }, { now }) => [
      metadata?.name ?? '',
      describeController(metadata),
      revision ?? 0,
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
