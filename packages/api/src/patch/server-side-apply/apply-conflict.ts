// Conflicts of server-side apply: changed fields that another field manager owns.

import { countPaths, type FieldSet, intersection, intersects, printPaths } from '../field-set/field-set.js'
import { compareOwners, type DifferenceAt, type FieldOwner } from '../managed-fields/managed-fields-entries.js'
import { type ConflictCause, PatchError } from '../patch-error.js'

export interface Conflict {
  readonly owner: FieldOwner
  readonly set: FieldSet
}

export function conflictsOf(others: readonly FieldOwner[], differenceAt: DifferenceAt): readonly Conflict[] {
  const conflicts: Conflict[] = []
  for (const owner of others) {
    const change = differenceAt(owner.apiVersion)
    if (change === undefined || change === 'unknown' || !intersects(owner.set, change.changed)) continue
    const set = intersection(owner.set, change.changed)
    if (set !== undefined) conflicts.push({ owner, set })
  }
  return conflicts
}

/** Conflicts beyond this number are counted, not listed. */
const maxCauses = 100

export function conflictError(conflicts: readonly Conflict[]): PatchError {
  const sorted = [...conflicts].sort((a, b) => compareOwners(a.owner, b.owner))
  const count = sorted.reduce((sum, { set }) => sum + countPaths(set), 0)
  const causes: ConflictCause[] = []
  const lines: string[] = []
  for (const { owner, set } of sorted) {
    if (causes.length >= maxCauses) break
    const fields = printPaths(set, maxCauses - causes.length)
    lines.push(`conflicts with ${printOwner(owner)}:`)
    for (const field of fields) {
      lines.push(`- ${field}`)
      causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${printOwner(owner)}`, field })
    }
  }
  const singleCause = count === 1 ? causes[0] : undefined
  if (singleCause !== undefined)
    return new PatchError('conflict', `Apply failed with 1 conflict: ${singleCause.message}: ${singleCause.field}`, causes)
  if (count > causes.length) lines.push(`and ${count - causes.length} more`)
  return new PatchError('conflict', `Apply failed with ${count} conflicts: ${lines.join('\n')}`, causes)
}

function printOwner({ manager, operation, apiVersion, subresource }: FieldOwner): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`)
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
