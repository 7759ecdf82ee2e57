// ConfigMap: keys, size limit and immutability, which Secret shares.

import { defineResource } from '../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, tooLong } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { dnsSubdomainProblems } from '../../api/validation/checks.js'
import { configKey } from '../../api/validation/name-formats.js'
import { sameValue } from '../../api/validation/same-value.js'
import { isSentEmpty } from '../../schema/json/sent-empty.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { type ConfigMap, configMap as schema } from './v1.schema.js'

type TextMap = { readonly [key: string]: string }

export const maxDataBytes = 1024 * 1024

export function checkKeys(data: TextMap | undefined, field: string): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const key in data) for (const problem of configKey(key)) errors.push(invalid(`${field}[${key}]`, key, problem))
  return errors
}

export function isOverDataLimit(texts: TextMap | undefined, base64: TextMap | undefined): boolean {
  let characters = 0
  for (const key in texts) characters += texts[key]?.length ?? 0
  for (const key in base64) characters += base64[key]?.length ?? 0
  // A UTF-16 code unit takes at most three bytes.
  if (characters * 3 <= maxDataBytes) return false
  let bytes = 0
  for (const key in texts) bytes += byteLength(texts[key] ?? '')
  for (const key in base64) bytes += decodedLength(base64[key] ?? '')
  return bytes > maxDataBytes
}

const decodedLength = (base64: string): number => (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)

/** Error for changes of an immutable ConfigMap or Secret. */
export const immutableError = (field: string): FieldError => forbidden(field, 'field is immutable when `immutable` is set')

const wholeObject = '[]'

function validate({ data, binaryData }: ConfigMap): readonly FieldError[] {
  const errors = [...checkKeys(data, 'data'), ...checkSharedKeys(data, binaryData), ...checkKeys(binaryData, 'binaryData')]
  if (isOverDataLimit(data, binaryData)) errors.push(tooLong(wholeObject, maxDataBytes))
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
  if (next.immutable !== true) errors.push(immutableError('immutable'))
  if (!sameValue(next.data, old.data)) errors.push(immutableError('data'))
  // Only an empty binaryData differs from an absent one: kube-apiserver defaults data to an empty map.
  if (isSentEmpty(next, 'binaryData') || !sameValue(next.binaryData, old.binaryData)) errors.push(immutableError('binaryData'))
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
  checks: { update: ['metadataChange', 'validateUpdate', 'metadata', 'validate'] },
  table: tableOf<ConfigMap>(
    nameColumn,
    textColumn('Data', 'Number of keys.', ({ data, binaryData }) => countOf(data) + countOf(binaryData)),
    ageColumn,
  ),
})
