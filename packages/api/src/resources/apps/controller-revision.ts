// ControllerRevision: a snapshot of a workload's template for rollbacks; its data is immutable.

import { defineResource } from '../../api/definition/resource-definition.js'
import { type FieldError, required } from '../../api/field-error.js'
import type { ObjectMeta } from '../../api/object.js'
import { checkNotNegative, checkUnchanged, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { type ControllerRevision, controllerRevision as schema } from './v1.schema.js'

const validate = ({ data, revision = 0 }: ControllerRevision): readonly FieldError[] =>
  joined(data === undefined ? [required('data', 'data is mandatory')] : noErrors, checkNotNegative(revision, 'revision'))

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
  checks: { update: ['metadataChange', 'metadata', 'validate', 'validateUpdate'] },
  table: tableOf<ControllerRevision>(
    nameColumn,
    textColumn('Controller', 'Controller of the revision.', ({ metadata }) => describeController(metadata)),
    textColumn('Revision', 'Revision number.', ({ revision }) => revision ?? 0),
    ageColumn,
  ),
})
