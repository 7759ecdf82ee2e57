// The fields that an apply would change though others own them, and how the answer says so.

import { countPaths, type FieldSet, printPaths } from './field-set.js'
import { compareOwners, type Owner } from './managed-entries.js'
import { type ConflictCause, PatchError } from './patch-error.js'

/** Of conflicts beyond this number only the number is told. */
const mostCauses = 100

export interface Conflict {
  readonly owner: Owner
  readonly set: FieldSet
}

export function conflictError(conflicts: readonly Conflict[]): PatchError {
  const sorted = [...conflicts].sort((a, b) => compareOwners(a.owner, b.owner))
  const count = sorted.reduce((sum, { set }) => sum + countPaths(set), 0)
  const causes: ConflictCause[] = []
  const lines: string[] = []
  for (const { owner, set } of sorted) {
    if (causes.length >= mostCauses) break
    const fields = printPaths(set, mostCauses - causes.length)
    lines.push(`conflicts with ${printOwner(owner)}:`)
    for (const field of fields) {
      lines.push(`- ${field}`)
      causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${printOwner(owner)}`, field })
    }
  }
  const only = count === 1 ? causes[0] : undefined
  if (only !== undefined) return new PatchError('conflict', `Apply failed with 1 conflict: ${only.message}: ${only.field}`, causes)
  if (count > causes.length) lines.push(`and ${count - causes.length} more`)
  return new PatchError('conflict', `Apply failed with ${count} conflicts: ${lines.join('\n')}`, causes)
}

/** Such as `"m1"`, `"m1" with subresource "status"`, `"m1" using apps/v1`. */
function printOwner({ manager, operation, apiVersion, subresource }: Owner): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`)
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
