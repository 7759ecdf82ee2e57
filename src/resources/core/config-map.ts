// Config maps: configuration as texts and bytes under keys.

import { defineResource } from '../../api/definition.js'
import { type FieldError, invalid, tooLong } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameValue } from '../../api/validation/same-value.js'
import { isSentEmpty } from '../../schema/sent-empty.js'
import { checkKeys, dataLimitBytes, isOverDataLimit, sealed } from './config-data.js'
import { type ConfigMap, configMap as schema } from './v1.schema.js'

/** How an error names the whole object. */
const wholeObject = '[]'

function validate({ data, binaryData }: ConfigMap): readonly FieldError[] {
  const errors = [...checkKeys(data, 'data'), ...checkSharedKeys(data, binaryData), ...checkKeys(binaryData, 'binaryData')]
  if (isOverDataLimit(data, binaryData)) errors.push(tooLong(wholeObject, dataLimitBytes))
  return errors
}

function checkSharedKeys(data: ConfigMap['data'], binaryData: ConfigMap['binaryData']): readonly FieldError[] {
  if (data === undefined || binaryData === undefined) return []
  const shared = Object.keys(data).filter((key) => Object.hasOwn(binaryData, key))
  return shared.map((key) => invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'))
}

function validateUpdate(next: ConfigMap, old: ConfigMap): readonly FieldError[] {
  if (old.immutable !== true) return []
  const errors: FieldError[] = []
  if (next.immutable !== true) errors.push(sealed('immutable'))
  if (isSentEmpty(next, 'data') || !sameValue(next.data, old.data)) errors.push(sealed('data'))
  if (isSentEmpty(next, 'binaryData') || !sameValue(next.binaryData, old.binaryData)) errors.push(sealed('binaryData'))
  return errors
}

const countOf = (data: { readonly [key: string]: string } | undefined): number => (data === undefined ? 0 : Object.keys(data).length)

export const configMap = defineResource<ConfigMap>({
  group: '',
  kind: 'ConfigMap',
  resource: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate,
  validateUpdate,
  checks: { update: ['metadataChange', 'ownChange', 'metadata', 'own'] },
  table: {
    columns: [nameColumn, textColumn('Data', 'How many keys there are.'), ageColumn],
    cells: ({ metadata, data, binaryData }, { now }) => [
      metadata?.name ?? '',
      countOf(data) + countOf(binaryData),
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
