// What the storage drivers on a node say of themselves, each once.

import { defineResource } from '../../api/definition.js'
import { duplicate, type FieldError, invalid, required } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn } from '../../api/table-columns.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { checkNotNegative, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { qualifiedName } from '../../api/validation/text-rules.js'
import { validateDriverName } from '../resource/driver-name.js'
import { type CSINode, type CSINodeDriver, csiNodeDriver, csiNode as schema } from './v1.schema.js'

const nodeIdLimit = 256

function validate({ spec }: CSINode): readonly FieldError[] {
  const names = new Set<string>()
  return checkEach(spec?.drivers, 'spec.drivers', (driver, at) => {
    const { name = '', nodeID = '', allocatable } = driver
    const isRepeated = names.has(name)
    names.add(name)
    return joined(
      validateDriverName(name, `${at}.name`),
      nodeID === '' ? [required(`${at}.nodeID`)] : noErrors,
      byteLength(nodeID) > nodeIdLimit ? [invalid(`${at}.nodeID`, nodeID, `must be ${nodeIdLimit} characters or less`)] : noErrors,
      checkNotNegative(allocatable?.count ?? 0, `${at}.allocatable.count`),
      isRepeated ? [duplicate(`${at}.name`, name)] : noErrors,
      validateTopologyKeys(driver, at),
    )
  })
}

/** What is wrong with a key is reported for the driver. */
function validateTopologyKeys({ topologyKeys = [] }: CSINodeDriver, field: string): readonly FieldError[] {
  return checkEach(topologyKeys, field, (key, _, i) =>
    joined(
      key === '' ? [required(field)] : noErrors,
      topologyKeys.indexOf(key) === i ? noErrors : [duplicate(field, key)],
      qualifiedName(key).map((problem) => invalid(field, topologyKeys, problem)),
    ),
  )
}

/** Drivers come and go, but what one says stays. */
function validateUpdate(next: CSINode, old: CSINode): readonly FieldError[] {
  const before = new Map((old.spec?.drivers ?? []).map((driver) => [driver.name, driver]))
  const changed = (next.spec?.drivers ?? []).filter((driver) => {
    const known = before.get(driver.name)
    return known !== undefined && !sameBySchema(csiNodeDriver, driver, known)
  })
  return changed.length === 0 ? noErrors : changed.map((driver) => invalid('CSINodeDriver', driver, 'field is immutable'))
}

export const csiNode = defineResource<CSINode>({
  group: { stem: 'storage' },
  kind: 'CSINode',
  resource: 'csinodes',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate,
  validateUpdate,
  checks: { update: ['metadata', 'own', 'metadata', 'own', 'ownChange'] },
  versionRequiredOnUpdate: true,
  deleteReturnsObject: true,
  table: {
    columns: [nameColumn, { name: 'Drivers', type: 'integer', description: 'How many drivers there are on the node.' }, ageColumn],
    cells: ({ metadata, spec }, { now }) => [metadata?.name ?? '', spec?.drivers?.length ?? 0, ageOf(metadata?.creationTimestamp, now)],
  },
})
