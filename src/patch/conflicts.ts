// The fields that an apply would change though others own them, and how the answer says so.

import { type FieldSet, printPaths } from './field-set.js'
import { compareOwners, type Owner } from './managed-entries.js'
import { PatchError } from './patch-error.js'

export interface Conflict {
  readonly owner: Owner
  readonly set: FieldSet
}

export function conflictError(conflicts: readonly Conflict[]): PatchError {
  const sorted = [...conflicts].sort((a, b) => compareOwners(a.owner, b.owner))
  const causes = sorted.flatMap(({ owner, set }) =>
    printPaths(set).map((field) => ({ reason: 'FieldManagerConflict' as const, message: `conflict with ${printOwner(owner)}`, field })),
  )
  const only = causes.length === 1 ? causes[0] : undefined
  if (only !== undefined) return new PatchError('conflict', `Apply failed with 1 conflict: ${only.message}: ${only.field}`, causes)
  const lines = sorted.flatMap(({ owner, set }) => [
    `conflicts with ${printOwner(owner)}:`,
    ...printPaths(set).map((field) => `- ${field}`),
  ])
  return new PatchError('conflict', `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`, causes)
}

/** Such as `"m1"`, `"m1" with subresource "status"`, `"m1" using apps/v1`. */
function printOwner({ manager, operation, apiVersion, subresource }: Owner): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`)
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
